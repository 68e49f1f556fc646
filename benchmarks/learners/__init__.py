"""Complete learners, as a user would call them: from rows and labels to a metric."""
