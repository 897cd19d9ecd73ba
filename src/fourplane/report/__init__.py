"""What people read: terminal, JSON and one offline HTML page."""
