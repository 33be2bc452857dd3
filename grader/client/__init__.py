"""Our side of a grading: a session, the line to a judge, the door of the server that stays."""
