"""What leaves the lab: pictures, videos and pages for those who have no kernel."""
