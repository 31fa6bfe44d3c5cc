"""Reading that formats share: files found, opened and cut into records, records into staged rows.

What finds files raises `InputError` where there is no such file or folder, or nothing in it was expected.
What reads a file raises `InputError` where it cannot be read or is not of its format, and `LoadError` where
it is damaged or cut short; the records before that have been handed out by then. What parses one record
raises `RecordError`, and the record is rejected.
"""
