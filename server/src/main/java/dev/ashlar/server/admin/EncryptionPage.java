package dev.ashlar.server.admin;

import dev.ashlar.gateway.encryption.key.MasterKeys;
import dev.ashlar.server.admin.Admin.RefusedException;
import dev.ashlar.server.jobs.KeyRenewal;
import java.util.List;

/** The keys that encrypt objects, and the renewal of data keys. Keys themselves are not shown. */
final class EncryptionPage {
  private final KeyRenewal renewal;

  /**
   * What the process that is asked knows.
   *
   * @param masterKeys in their order; the first one seals
   * @param defaultKmsKey of requests that name none; empty: there is none
   */
  record Page(
      List<MasterKey> masterKeys,
      String defaultKmsKey,
      String renewal,
      String bucket,
      long versions,
      long renewed,
      long failed,
      long uploadsWithEarlierKeys) {}

  record MasterKey(String name, String fingerprint) {}

  EncryptionPage(KeyRenewal renewal) {
    this.renewal = renewal;
  }

  Page page() {
    MasterKeys masters = renewal.keys().masters();
    KeyRenewal.Progress progress = renewal.progress();
    return new Page(
        masters.fingerprints().entrySet().stream()
            .map(key -> new MasterKey(key.getKey(), key.getValue()))
            .toList(),
        renewal.keys().kms().standard().orElse(""),
        progress.state(),
        progress.bucket(),
        progress.versions(),
        progress.renewed(),
        progress.failed(),
        progress.uploads());
  }

  Page renew() throws RefusedException {
    if (!renewal.start()) {
      throw new RefusedException("the renewal of data keys runs already");
    }
    return page();
  }
}
