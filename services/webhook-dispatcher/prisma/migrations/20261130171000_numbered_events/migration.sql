-- Releases of before 23 November wrote events without a number, and a trigger gave them one.
DROP TRIGGER events_number ON events;
DROP FUNCTION number_event;
