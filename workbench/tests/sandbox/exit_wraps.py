# end: Exit(255)
raise SystemExit(-1)
