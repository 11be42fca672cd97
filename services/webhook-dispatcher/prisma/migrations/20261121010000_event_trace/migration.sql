-- The W3C traceparent of what caused the event, so that its deliveries belong to the same trace.
ALTER TABLE events ADD COLUMN trace text;
