"""Statistics that comparisons of solvers and of learners share."""
