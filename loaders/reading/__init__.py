"""What readers of formats share: streams, archives, tables, XML, records, fields."""
