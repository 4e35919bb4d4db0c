"""Who sends what to whom: schedules, the plan of a collective, and an executor that checks its sums."""
