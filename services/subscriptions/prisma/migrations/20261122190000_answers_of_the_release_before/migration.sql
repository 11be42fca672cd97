-- Replicas of the release before name this column in every write, and leave the body out where an order is still to come.
ALTER TABLE idempotency_keys ADD COLUMN order_id uuid;
CREATE FUNCTION fill_answer_body() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.body := coalesce(NEW.body, 'order ' || NEW.order_id);
  RETURN NEW;
END $$;
CREATE TRIGGER idempotency_keys_body BEFORE INSERT ON idempotency_keys FOR EACH ROW EXECUTE FUNCTION fill_answer_body();
