-- Where a payer is offered to go after the checkout.
ALTER TABLE orders ADD COLUMN success_url text, ADD COLUMN cancel_url text;
