-- Whether an order of a link is paid, beside its link: counted without the orders. By a trigger, because a release before this one changes orders too.
ALTER TABLE link_orders ADD COLUMN paid boolean NOT NULL DEFAULT false;
CREATE FUNCTION mark_paid_link_order() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  UPDATE link_orders SET paid = (NEW.status = 'paid') WHERE order_id = NEW.id;
  RETURN NULL;
END $$;
CREATE TRIGGER mark_paid_link_order AFTER UPDATE ON orders
  FOR EACH ROW WHEN ((OLD.status = 'paid') <> (NEW.status = 'paid')) EXECUTE FUNCTION mark_paid_link_order();
UPDATE link_orders SET paid = true FROM orders WHERE id = order_id AND status = 'paid';
CREATE INDEX link_orders_paid ON link_orders (link_id) WHERE paid;
-- In the order of a list, newest first.
DROP INDEX link_orders_link_id_order_id_idx;
CREATE INDEX link_orders_link_id_order_id_idx ON link_orders (link_id, order_id DESC);
