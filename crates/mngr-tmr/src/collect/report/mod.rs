//! The reports of frameworks, read: one file for each format. Pure; what is read here was written by programs of agents.

mod go;
mod javascript;
mod junit;
mod libtest;
mod read;
mod spots;

pub(super) use read::{Asked, Said, read};
