//! Which values are plain data.

/// What arrays and areas hold: plain data, every byte pattern of which is a value.
///
/// Derive it for structs through [`bytemuck`]'s `Pod` and `Zeroable`.
pub trait Plain: bytemuck::Pod + Send + Sync {}
impl<T: bytemuck::Pod + Send + Sync> Plain for T {}
