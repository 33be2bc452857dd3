"""What to do next: rounds and their clock, reviews, questions, the plan, mock interviews."""
