//! Long options may be abbreviated: GNU ld takes every beginning of a name that no other
//! name shares. (Other linkers take whole names only.)

/// Its long options, of all versions up to 2.46, without those that only Windows' formats have; a space between two.
const NAMES: &str = "
    accept-unknown-input-arch add-needed allow-multiple-definition allow-shlib-undefined architecture as-needed assert audit auxiliary
    Bdynamic Bgroup Bno-symbolic Bshareable Bstatic Bsymbolic Bsymbolic-functions build-id call_shared check-sections compress-debug-sections
    copy-dt-needed-entries cref ctf-share-types ctf-variables dc default-imported-symver default-script default-symver defsym demangle depaudit
    dependency-file disable-linker-version disable-multiple-abs-defs disable-new-dtags discard-all discard-locals discard-none discard-sframe dn dp dT dy
    dynamic-linker dynamic-list dynamic-list-cpp-new dynamic-list-cpp-typeinfo dynamic-list-data EB eh-frame-hdr EL embedded-relocs emit-relocs
    enable-linker-version enable-new-dtags enable-non-contiguous-regions enable-non-contiguous-regions-warnings end-group entry error-execstack
    error-handling-script error-rwx-segments error-unresolved-symbols exclude-libs export-dynamic export-dynamic-symbol export-dynamic-symbol-list
    fatal-warnings filter fini force-exe-suffix force-group-allocation format gc-keep-exported gc-sections gpsize hash-size hash-style help
    ignore-unresolved-symbol image-base init just-symbols ld-generated-unwind-info library library-path Map map-whole-files max-cache-size mri-script nmagic
    no-accept-unknown-input-arch no-add-needed no-allow-shlib-undefined no-as-needed no-check-sections no-copy-dt-needed-entries no-ctf-variables
    no-define-common no-demangle no-dynamic-linker no-eh-frame-hdr no-error-execstack no-error-rwx-segments no-export-dynamic no-fatal-warnings no-gc-sections no-keep-memory
    no-ld-generated-unwind-info no-map-whole-files no-pie no-print-gc-sections no-print-map-discarded no-print-map-locals no-relax no-rosegment no-strip-discarded
    no-undefined no-undefined-version no-warn-execstack no-warn-mismatch no-warn-rwx-segments no-warn-search-mismatch no-warnings no-whole-archive
    noinhibit-exec non_shared nostdlib oformat orphan-handling out-implib package-metadata pic-executable pie plugin plugin-opt plugin-save-temps pop-state
    print-gc-sections print-map print-map-discarded print-map-locals print-memory-usage print-output-format print-sysroot push-state qmagic Qy reduce-memory-overheads
    relax relocatable remap-inputs remap-inputs-file require-defined retain-symbols-file rosegment rpath rpath-link script section-ordering-file section-start shared
    soname sort-common sort-section spare-dynamic-tags split-by-file split-by-reloc start-group static stats strip-all strip-debug strip-discarded
    sysroot target-help task-link Tbss Tdata Tldata-segment trace trace-symbol traditional-format Trodata-segment Ttext Ttext-segment undefined
    undefined-version unique unresolved-symbols Ur verbose version version-exports-section version-script warn-alternate-em warn-common
    warn-constructors warn-execstack warn-execstack-objects warn-multiple-gp warn-once warn-rwx-segments warn-section-align warn-shared-textrel warn-textrel
    warn-unresolved-symbols whole-archive wrap
";

/// Those which need both dashes, as one would be `-o` or `-n` with a value. They are looked at last.
const WITH_TWO_DASHES: &str = "no-omagic omagic output";

/// The whole name of an option, or the name as it is: of what no option begins with, and
/// of what several do (the linker refuses that).
pub(super) fn completed(name: &str, has_two_dashes: bool) -> &str {
    // With one dash these are `-l` and `-o`, for most linkers.
    if !has_two_dashes && name.starts_with(['l', 'o']) {
        return name;
    }
    let last = if has_two_dashes { WITH_TWO_DASHES } else { "" };
    [NAMES, last].into_iter().find_map(|names| only_one(names, name)).unwrap_or(name)
}

fn only_one(names: &'static str, beginning: &str) -> Option<&'static str> {
    let mut found = names.split_whitespace().filter(|name| name.starts_with(beginning));
    let first = found.next()?;
    // Names are in order: a whole one comes before those that it begins.
    (first == beginning || found.next().is_none()).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_gnu_ld_reads_them() {
        for (written, meant) in [
            ("--outp", "output"),
            ("--output", "output"),
            ("--out", "out-implib"),
            ("--o", "o"),
            ("-outp", "outp"),
            ("--sha", "shared"),
            ("-sha", "shared"),
            ("-who", "whole-archive"),
            ("--s", "s"),
            ("--dyn", "dyn"),
            ("--dynamic-list", "dynamic-list"),
            ("--dynamic-list-d", "dynamic-list-data"),
            ("-sysr", "sysroot"),
            ("--librar", "librar"),
            ("--library-p", "library-path"),
            ("-librar", "librar"),
            ("-reloc", "relocatable"),
            ("-Bst", "Bstatic"),
            ("--dep", "dep"),
            ("--depe", "dependency-file"),
            ("--versi", "versi"),
            ("--version-s", "version-script"),
            ("--icf", "icf"),
        ] {
            let name = written.trim_start_matches('-');
            assert_eq!(completed(name, written.starts_with("--")), meant, "{written}");
        }
    }

    #[test]
    fn whole_names_come_first() {
        for names in [NAMES, WITH_TWO_DASHES] {
            let names: Vec<_> = names.split_whitespace().collect();
            for (at, name) in names.iter().enumerate() {
                assert!(!names[..at].iter().any(|before| before.starts_with(name)), "{name}");
            }
        }
    }
}
