"""What is expected of a reply, and what a reply means."""
