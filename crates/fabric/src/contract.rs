//! The [contract](crate::circle) as tests that every fabric is handed.
