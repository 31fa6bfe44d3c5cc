"""What each room has to say on the command line: tables and lines of summaries, and files of reports."""
