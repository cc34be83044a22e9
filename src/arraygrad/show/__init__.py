"""What a user can look at: profiles, drawings of graphs, and pages for Jupyter."""
