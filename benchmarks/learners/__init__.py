"""Complete learners, as a user would call them: from samples and labels to a metric."""
