-- Releases of before 24 November wrote these, and triggers made rows of charges of theirs.
DROP TABLE waiting_charges, charge_outcomes;
DROP FUNCTION charge_of_release_before, outcome_of_release_before;
