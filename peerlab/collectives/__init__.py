"""Who sends what to whom: schedules, and an executor that checks the sums."""
