# end: Exit(130)
raise KeyboardInterrupt
