"""What `kata watch` stands on: a watcher of a file, the keyboard, a mailbox, a grader at work in a thread."""
