//! Damaged model files: every truncation and every flipped bit is rejected, and any file that is accepted gives a working model.

use std::panic::{AssertUnwindSafe, catch_unwind};

use sapwood::bank::{Bank, MemberConfig};
use sapwood::config::{CloudConfig, Discard, Leaf, Prior};
use sapwood::error::{Error, ErrorKind};
use sapwood::snapshot::{FORMAT_VERSION, load};

use crate::common::{Data, N_CLASSES, Noise, bank, bytes, predict, trivial};

const HEADER_LEN: usize = 24;

fn member(leaf: Leaf, discard: Discard) -> CloudConfig {
    CloudConfig { n_particles: 6, max_active: Some(8), min_leaf: Some(2), discard, ..CloudConfig::new(leaf) }
}

/// Small banks that between them use every part of the format.
fn samples() -> Vec<(Bank, Data)> {
    let regression = [
        CloudConfig { forgetting: Some(0.9), ..member(Leaf::Linear, Discard::Alc) },
        CloudConfig { lags: 1, prior: Prior::Reference, ..member(Leaf::Constant, Discard::Random) },
    ];
    let classification = [member(Leaf::Multinomial, Discard::Entropy)];
    let by_inputs = [member(Leaf::Discriminant, Discard::Oldest), member(Leaf::Quadratic, Discard::Entropy)];
    [&regression[..], &classification[..], &by_inputs[..]]
        .into_iter()
        .map(|clouds| {
            let leaf = clouds[0].leaf;
            let mut data = Data::for_leaf(leaf, 2, 50, 11);
            data.x[40] = f64::NAN;
            let members: Vec<MemberConfig> = clouds.iter().cloned().map(MemberConfig::from).chain(trivial(leaf.task())).collect();
            let mut bank = bank(2, N_CLASSES, &members, 12);
            data.teach(&mut bank, 0..30, 1);
            (bank, data)
        })
        .collect()
}

/// CRC-32 (IEEE 802.3), bit by bit.
fn crc32(parts: &[&[u8]]) -> u32 {
    let mut crc = u32::MAX;
    for byte in parts.iter().copied().flatten() {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ (0xEDB8_8320 & (crc & 1).wrapping_neg());
        }
    }
    !crc
}

/// Fix the header of a modified file: length and checksum.
fn seal(file: &mut [u8]) {
    let length = (file.len() - HEADER_LEN) as u64;
    file[12..20].copy_from_slice(&length.to_le_bytes());
    let crc = crc32(&[&file[8..20], &file[HEADER_LEN..]]);
    file[20..24].copy_from_slice(&crc.to_le_bytes());
}

/// The layout that the other tests modify. Fails if the checksum does not cover everything.
#[test]
fn the_header_is_as_documented() {
    for (bank, _) in samples() {
        let file = bytes(&bank);
        assert_eq!(&file[..8], b"SAPWOOD\x1a");
        assert_eq!(file[8..12], FORMAT_VERSION.to_le_bytes());
        let mut sealed = file.clone();
        seal(&mut sealed);
        assert!(sealed == file);
        let (loaded, meta) = load(&file).expect("a whole file");
        assert_eq!(meta, b"meta");
        assert!(bytes(&loaded) == file);
    }
}

#[test]
fn every_truncation_is_refused() {
    for (bank, _) in samples() {
        let file = bytes(&bank);
        for len in 0..file.len() {
            let error = load(&file[..len]).err().unwrap_or_else(|| panic!("the first {len} of {} bytes were accepted", file.len()));
            assert_eq!(error.kind(), ErrorKind::ModelFile, "{error}");
            // Truncated, with a valid header: the lengths inside must reveal it.
            if len >= HEADER_LEN && len % 7 == 0 {
                let mut cut = file[..len].to_vec();
                seal(&mut cut);
                let error = load(&cut).err().unwrap_or_else(|| panic!("{len} resealed bytes were accepted"));
                assert_eq!(error.kind(), ErrorKind::ModelFile, "{error}");
            }
        }
        let mut longer = file.clone();
        longer.push(0);
        assert!(load(&longer).is_err());
        seal(&mut longer);
        assert!(matches!(load(&longer), Err(Error::Inconsistent { .. })));
    }
}

#[test]
fn every_flipped_bit_is_refused() {
    for (bank, _) in samples() {
        let mut file = bytes(&bank);
        for at in 0..file.len() {
            for bit in 0..8 {
                file[at] ^= 1 << bit;
                assert!(load(&file).is_err(), "bit {bit} of byte {at}");
                file[at] ^= 1 << bit;
            }
        }
    }
}

#[test]
fn other_versions_say_so() {
    let (bank, _) = samples().remove(0);
    let mut file = bytes(&bank);
    file[8..12].copy_from_slice(&(FORMAT_VERSION + 1).to_le_bytes());
    seal(&mut file);
    assert_eq!(load(&file).err(), Some(Error::NewerFormat { given: FORMAT_VERSION + 1, supported: FORMAT_VERSION }));
    file[8..12].copy_from_slice(&0u32.to_le_bytes());
    seal(&mut file);
    assert!(load(&file).is_err());
}

/// Numbers that break arithmetic, counters and lengths.
const CRUEL: [u64; 14] = [
    0,
    1,
    u64::MAX,
    u64::MAX >> 1,
    1 << 31,
    1 << 48,
    0x7FF0_0000_0000_0000, // infinity
    0x7FF8_0000_0000_0000, // NaN
    0xFFF0_0000_0000_0000, // -infinity
    0x7FEF_FFFF_FFFF_FFFF, // the largest finite number
    0xFFEF_FFFF_FFFF_FFFF, // the most negative finite number
    0x0000_0000_0000_0001, // the smallest positive number
    0x54B2_49AD_2594_C37D, // 1e100
    0xBFF0_0000_0000_0000, // -1
];

fn tamper(file: &mut [u8], noise: &mut Noise) {
    for _ in 0..1 + noise.below(3) {
        let at = HEADER_LEN + noise.below(file.len() - HEADER_LEN - 8);
        match noise.below(4) {
            0 => file[at] ^= 1 << noise.below(8),
            1 => file[at] = noise.bits() as u8,
            2 => file[at..at + 8].copy_from_slice(&CRUEL[noise.below(CRUEL.len())].to_le_bytes()),
            _ => {
                let from = HEADER_LEN + noise.below(file.len() - HEADER_LEN - 8);
                file.copy_within(from..from + 8, at);
            }
        }
    }
}

/// Learn and predict; a damaged model may return any numbers.
fn use_model(bank: &mut Bank, data: &Data) {
    bank.refresh_fits();
    predict(bank, data);
    data.teach(bank, 30..50, 1);
    predict(bank, data);
    for member in 0..bank.n_members() {
        let member = bank.member(member).expect("a member");
        member.active();
        member.particle_stats();
        member.tree(0);
    }
    bank.rejuvenate();
    bytes(bank);
}

/// Fails if the engine relies on unchecked content of the file: an index, a count, or impossible statistics.
#[test]
fn tampered_bodies_are_refused_or_work() {
    let samples = samples();
    let (mut n_accepted, mut failures) = (0, Vec::new());
    for seed in 0..24_000u64 {
        let (bank, data) = &samples[seed as usize % samples.len()];
        let mut file = bytes(bank);
        tamper(&mut file, &mut Noise::new(seed));
        seal(&mut file);
        let outcome = catch_unwind(AssertUnwindSafe(|| match load(&file) {
            Ok((mut bank, _)) => {
                use_model(&mut bank, data);
                true
            }
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::ModelFile, "{error}");
                false
            }
        }));
        match outcome {
            Ok(accepted) => n_accepted += u32::from(accepted),
            Err(_) => failures.push(seed),
        }
    }
    assert!(failures.is_empty(), "{} files broke the engine; seeds {:?}", failures.len(), &failures[..failures.len().min(20)]);
    // Most of the body is arbitrary numbers: if hardly any file were accepted, the modifications would never have reached the engine.
    assert!(n_accepted > 4000, "{n_accepted}");
}
