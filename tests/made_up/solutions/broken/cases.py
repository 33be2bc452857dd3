raise RuntimeError("this kata has no cases")
