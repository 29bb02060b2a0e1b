//! The images that are loaded into this process: the executable and its shared libraries.

use crate::system::{self, Image, Stamp};

/// The images that were loaded when they were listed last.
#[derive(Default)]
pub(super) struct Images {
    listed: Vec<Image>,
    stamp: Stamp,
}

impl Images {
    /// Lists them again, if any was loaded or unloaded since.
    pub(super) fn refresh(&mut self) {
        if let Some(listed) = system::list_images(&mut self.stamp) {
            self.listed = listed;
        }
    }

    /// The number of the image that has code at this address, and the place in it.
    pub(super) fn place(&self, address: usize) -> Option<[u64; 2]> {
        let image = self.listed.iter().find(|image| image.code.iter().any(|code| code.contains(&address)))?;
        Some([image.id, address.wrapping_sub(image.base) as u64])
    }

    /// Where the code at this place of an image is.
    pub(super) fn address(&self, [id, place]: [u64; 2]) -> Option<usize> {
        let image = self.listed.iter().find(|image| image.id == id)?;
        let address = image.base.wrapping_add(usize::try_from(place).ok()?);
        image.code.iter().any(|code| code.contains(&address)).then_some(address)
    }
}

/// A number for the build of the executable.
pub fn program() -> u64 {
    let mut images = Images::default();
    images.refresh();
    // The system lists it first.
    images.listed.first().map_or(0, |image| image.id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_has_one_number() {
        assert_eq!(program(), program());
        assert_ne!(program(), 0);
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri does not list images")]
    fn code_has_a_place_in_its_object_and_nothing_else_has() {
        let mut images = Images::default();
        images.refresh();
        let listed = images.listed.len();
        images.refresh();
        assert_eq!(images.listed.len(), listed);
        let here = program as *const () as usize;
        let place = images.place(here).expect("this is code");
        assert_eq!(images.address(place), Some(here));
        let [program, _] = place;
        assert_eq!(program, super::program());
        let stack = 0;
        assert_eq!(images.place((&raw const stack).addr()), None);
        assert_eq!(images.place(BUILD_IDS.as_ptr().addr()), None);
        assert_eq!(images.address([program, u64::MAX]), None);
        assert_eq!(images.address([program ^ 1, 0]), None);
    }

    /// Something that can be written to, and so is no code.
    static BUILD_IDS: [std::sync::atomic::AtomicU64; 1] = [std::sync::atomic::AtomicU64::new(0)];

    /// Elsewhere the system's library may be part of the executable.
    #[test]
    #[cfg(all(target_env = "gnu", target_os = "linux"))]
    #[cfg_attr(miri, ignore = "Miri does not list images")]
    fn the_systems_library_is_an_image_of_its_own() {
        let mut images = Images::default();
        images.refresh();
        let there = libc::getpid as *const () as usize;
        let place = images.place(there).expect("this is code");
        assert_eq!(images.address(place), Some(there));
        assert_ne!(place[0], program());
    }
}
