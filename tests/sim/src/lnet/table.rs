// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Slots named by index and generation, so that an old name matches nothing (R14).

use lnd_core::id::Tag;

/// A table whose entries are named by a [`Tag`]. Order of iteration is the order of the slots.
#[derive(Debug)]
pub struct Table<T> {
    slots: Vec<Slot<T>>,
    free: Vec<u32>,
    first_generation: u32,
}

#[derive(Debug)]
struct Slot<T> {
    generation: u32,
    value: Option<T>,
}

impl<T> Table<T> {
    /// An empty table. Names begin at `first_generation`: a restarted node that chooses another
    /// one does not take answers to its former incarnation for its own.
    pub fn new(first_generation: u32) -> Self {
        Self { slots: Vec::new(), free: Vec::new(), first_generation }
    }

    /// Stores a value and names it.
    pub fn insert(&mut self, value: T) -> Tag {
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot { generation: self.first_generation, value: None });
            (self.slots.len() - 1) as u32
        });
        let slot = &mut self.slots[index as usize];
        slot.value = Some(value);
        Tag { index, generation: slot.generation }
    }

    /// The value of that name, unless the name is stale.
    pub fn get(&self, tag: Tag) -> Option<&T> {
        let slot = self.slots.get(tag.index as usize)?;
        slot.value.as_ref().filter(|_| slot.generation == tag.generation)
    }

    /// The value of that name, unless the name is stale.
    pub fn get_mut(&mut self, tag: Tag) -> Option<&mut T> {
        let slot = self.slots.get_mut(tag.index as usize)?;
        slot.value.as_mut().filter(|_| slot.generation == tag.generation)
    }

    /// Takes the value out; its name is stale from now on.
    pub fn remove(&mut self, tag: Tag) -> Option<T> {
        self.get(tag)?;
        let slot = self.slots.get_mut(tag.index as usize)?;
        slot.generation = slot.generation.wrapping_add(1);
        self.free.push(tag.index);
        slot.value.take()
    }

    /// Every value with its name, by slot.
    pub fn iter(&self) -> impl Iterator<Item = (Tag, &T)> {
        self.slots.iter().enumerate().filter_map(|(index, slot)| {
            let tag = Tag { index: index as u32, generation: slot.generation };
            slot.value.as_ref().map(|value| (tag, value))
        })
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_name_of_a_reused_slot_names_nothing() {
        // H8, H10: index and generation both count.
        let mut table = Table::new(u32::MAX);
        let (old, other) = (table.insert('a'), table.insert('b'));
        assert_eq!(table.remove(old), Some('a'));
        let new = table.insert('c');
        assert_eq!((new.index, new.generation), (old.index, 0), "the generation wraps");
        assert_eq!(table.get(old), None);
        assert_eq!(table.get_mut(old), None);
        assert_eq!(table.remove(old), None);
        assert_eq!(table.get(Tag { index: 2, generation: 0 }), None);
        let all: Vec<_> = table.iter().map(|(tag, value)| (tag, *value)).collect();
        assert_eq!((all, table.len()), (vec![(new, 'c'), (other, 'b')], 2));
    }
}
