#!/bin/sh
# What you can do with todo. Every block below is cited by at least one test.

##########
# The list
##########

# Note what there is to do
todo add "buy milk"

# See it
todo list

# Tick a task off when it is done
todo tick 1

# See only what is done
todo list --done

# Remove a task that will never be done
todo rm 1

# Remove everything that is done
todo clear

# A new task gets the number after the highest one
todo rm 1
todo add "water the plants"

##########
# Changing
##########

# Say it in other words; the task stays as done or open as it was
todo edit 1 "buy oat milk"

#############
# Looking up
#############

# Find tasks by some of their words, in capitals or not
todo find MILK

# How many are open, and how many are done?
todo count

# Let it decide what to do next: any of the open tasks
todo pick

# What is due tomorrow?
todo add "pay the rent" due:tomorrow
todo list due

#########
# Leaving
#########

# Take the list elsewhere, as CSV: texts are in quotes, and a quote in them is doubled
todo export

# What else is there?
todo help
