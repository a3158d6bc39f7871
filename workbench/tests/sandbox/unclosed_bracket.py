# end: Exit(1)
values = [1, 2
