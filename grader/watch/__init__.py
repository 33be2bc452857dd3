"""What `kata watch` stands on: an eye on a file, a hand on the keyboard, a mailbox, a grader at work in a thread."""
