"""Many scenarios at once, and what they teach. Above the engines, below the app."""
