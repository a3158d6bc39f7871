# end: Exit(255)
# Python makes 255 of a number that does not fit into one of C.
raise SystemExit(10**30)
