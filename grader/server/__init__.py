"""The processes of a grading: a clean server, a keeper for each grading, and below it a judge and its sandboxes."""
