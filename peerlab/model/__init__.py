"""What is asked: clusters, data paths, registration rules and the scenario that ties them together."""
