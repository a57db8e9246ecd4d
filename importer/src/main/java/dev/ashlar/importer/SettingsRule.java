package dev.ashlar.importer;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Which settings of the target's buckets an import may write: what an operator has set there stays,
 * unless the target is to mirror the source. For all passes of a run.
 */
final class SettingsRule {
  private final ImportOptions options;
  private final Journal journal;
  private final Set<String> made = ConcurrentHashMap.newKeySet();
  private final Set<String> noted = ConcurrentHashMap.newKeySet();

  SettingsRule(ImportOptions options, Journal journal) {
    this.options = options;
    this.journal = journal;
  }

  void made(String bucket) {
    made.add(bucket);
  }

  /** Whether the bucket may get what it does not have. With a prefix, the rest is not ours. */
  boolean mayAdd(String bucket) {
    return options.prefix().isEmpty() || made.contains(bucket);
  }

  /** Whether what the bucket has may be replaced by what the source has. */
  boolean mayReplace() {
    return options.prefix().isEmpty() && options.isMirror();
  }

  /** Likewise what says how objects are written; a bucket of this run has it from this run. */
  boolean mayReplaceWriting(String bucket) {
    return mayReplace() || made.contains(bucket);
  }

  /** Says once that a setting is not that of the source. */
  void differs(String bucket, String what) {
    if (noted.add(bucket + " " + what)) {
      journal.note(
          bucket
              + ": "
              + what
              + " differs from that of the source and stays; --mirror without a prefix replaces"
              + " it");
    }
  }
}
