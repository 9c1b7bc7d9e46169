"""Parts that all pages share: charts, tables, style, scripts and the frame around them."""
