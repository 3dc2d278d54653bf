"""Statistics that studies and learners share."""
