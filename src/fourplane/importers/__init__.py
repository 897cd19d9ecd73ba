"""Other tools' output becomes evidence: files, folders and archives, recognised, read and kept."""
