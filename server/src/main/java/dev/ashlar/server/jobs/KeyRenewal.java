package dev.ashlar.server.jobs;

import com.google.protobuf.ByteString;
import dev.ashlar.gateway.encryption.key.Encryption;
import dev.ashlar.gateway.encryption.key.KeyWrapping;
import dev.ashlar.gateway.encryption.key.KmsVersions;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.UploadsPage;
import dev.ashlar.protocol.client.UploadsQuery;
import dev.ashlar.protocol.client.VersionRead;
import dev.ashlar.protocol.client.VersionsPage;
import dev.ashlar.protocol.client.VersionsQuery;
import dev.ashlar.protocol.message.BucketRow;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.ObjectRecord;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.SetObjectFacts;
import dev.ashlar.protocol.message.UploadRow;
import dev.ashlar.protocol.message.VersionEntry;
import dev.ashlar.protocol.message.VersionRef;
import dev.ashlar.protocol.process.RateLimitedLog;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Looks at all versions of all buckets, and seals the data keys anew that an earlier master key, or
 * an earlier version of a KMS key, has sealed. No byte of an object moves. It runs when it is asked
 * for, once at a time, in the process that was asked; done twice, it does no harm.
 *
 * <p>Versions move while it looks: renamed from a key that is still to come to one that it has
 * passed, or made of an upload. So it looks at all of them again until there was nothing to do.
 */
public final class KeyRenewal implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(KeyRenewal.class);
  private static final RateLimitedLog FAILURES = new RateLimitedLog(LOG, Level.WARN);
  private static final int PAGE = 1000;
  private static final int VERSIONS_AT_ONCE = 8;
  private static final int PASSES_MAX = 10;

  /** How often a version is tried that others change at the same moment. */
  private static final int TRIES = 5;

  private final MetadataClient metadata;
  private final KeyWrapping keys;
  private @Nullable Thread running;
  private volatile Progress progress = new Progress("not started", "", 0, 0, 0, 0);

  /**
   * How far it is.
   *
   * @param state not started, running, done, or why it has ended before
   * @param bucket that is looked at; empty: none
   * @param versions that were looked at in the last pass
   * @param renewed data keys that were sealed anew
   * @param failed data keys that could not be, in the last pass
   * @param uploads in progress, as the last pass saw them, whose data key an earlier key has
   *     sealed, and that keep it
   */
  public record Progress(
      String state, String bucket, long versions, long renewed, long failed, long uploads) {
    Progress again() {
      return new Progress(state, bucket, 0, renewed, 0, 0);
    }

    Progress state(String now) {
      return new Progress(now, "", versions, renewed, failed, uploads);
    }

    Progress in(String now) {
      return new Progress(state, now, versions, renewed, failed, uploads);
    }

    Progress plus(long looked, long sealed, long notSealed) {
      return new Progress(
          state, bucket, versions + looked, renewed + sealed, failed + notSealed, uploads);
    }

    Progress withUpload() {
      return new Progress(state, bucket, versions, renewed, failed, uploads + 1);
    }
  }

  public KeyRenewal(MetadataClient metadata, KeyWrapping keys) {
    this.metadata = metadata;
    this.keys = keys;
  }

  public KeyWrapping keys() {
    return keys;
  }

  public Progress progress() {
    return progress;
  }

  /** Begins; false: it runs already. */
  public synchronized boolean start() {
    // The thread may outlive the state by a moment, and an Error may end it in the state "running".
    if (running != null && running.isAlive() && progress.state().equals("running")) {
      return false;
    }
    progress = new Progress("running", "", 0, 0, 0, 0);
    running = Thread.ofVirtual().name("key-renewal").start(this::run);
    return true;
  }

  private void run() {
    try {
      KmsVersions versions = new KmsVersions(keys.kms());
      boolean isMore = true;
      for (int pass = 0; isMore && pass < PASSES_MAX; pass++) {
        long before = progress.renewed();
        pass(versions);
        isMore = progress.renewed() > before;
      }
      if (isMore) {
        throw new IllegalStateException(
            "there are ever more data keys of an earlier key; do all gateways use the new one?");
      }
      LOG.info("The renewal of data keys is done: {}", progress.state("done"));
      progress = progress.state("done"); // the last: another renewal may begin now
    } catch (S3Exception e) {
      LOG.warn("The renewal of data keys has ended early: {}", e.getMessage());
      progress = progress.state("failed: " + e.getMessage());
    } catch (InterruptedException e) {
      progress = progress.state("stopped");
    } catch (MetadataUnavailableException | RuntimeException e) {
      LOG.warn("The renewal of data keys has ended early.", e);
      progress = progress.state("failed: " + e.getMessage());
    }
  }

  /**
   * Looks at uploads first: what one of them has become since is among the versions.
   *
   * @throws S3Exception if the key management does not answer
   */
  private void pass(KmsVersions versions)
      throws S3Exception, MetadataUnavailableException, InterruptedException {
    progress = progress.again();
    for (BucketRow bucket : metadata.buckets()) {
      progress = progress.in(bucket.getName());
      look(bucket.getName(), versions);
      renew(bucket.getName(), versions);
    }
  }

  private void renew(String bucket, KmsVersions versions)
      throws S3Exception, MetadataUnavailableException, InterruptedException {
    String key = "";
    VersionRef marker = null;
    boolean isMore = true;
    while (isMore) {
      VersionsPage page = metadata.versions(new VersionsQuery(bucket, "", "", key, marker, PAGE));
      List<VersionEntry> entries = MoveProgress.versions(page);
      AtOnce.run(
          entries,
          VERSIONS_AT_ONCE,
          entry -> {
            renew(bucket, entry, versions);
            return versions.unavailable() == null;
          });
      requireAvailable(versions);
      isMore = page.truncated() && !page.entries().isEmpty();
      if (isMore) {
        VersionEntry last = page.entries().getLast();
        key = last.getName();
        marker = VersionRef.newBuilder().setNumber(last.getVersion()).build();
      }
    }
  }

  private static void requireAvailable(KmsVersions versions) throws S3Exception {
    S3Exception unavailable = versions.unavailable();
    if (unavailable != null) {
      throw unavailable;
    }
  }

  private void renew(String bucket, VersionEntry entry, KmsVersions versions)
      throws InterruptedException {
    boolean isRenewed = false;
    boolean isFailed = false;
    try {
      isRenewed = isRenewed(bucket, entry, versions);
    } catch (S3Exception | MetadataUnavailableException e) {
      isFailed = true;
      FAILURES.log(
          "The data key of version %x of %s/%s is not renewed: %s"
              .formatted(entry.getVersion(), bucket, entry.getName(), e.getMessage()));
    }
    add(isRenewed, isFailed);
  }

  private synchronized void add(boolean isRenewed, boolean isFailed) {
    progress = progress.plus(1, isRenewed ? 1 : 0, isFailed ? 1 : 0);
  }

  /** Whether it was; no: it has no earlier key, or is gone. */
  private boolean isRenewed(String bucket, VersionEntry entry, KmsVersions versions)
      throws S3Exception, MetadataUnavailableException, InterruptedException {
    VersionRef id =
        entry.getVersioned()
            ? VersionRef.newBuilder().setNumber(entry.getVersion()).build()
            : VersionRef.getDefaultInstance();
    for (int i = 0; i < TRIES; i++) {
      SetObjectFacts command = renewal(bucket, entry.getName(), id, versions);
      if (command == null) {
        return false;
      }
      ResultCode code = metadata.submit(Command.newBuilder().setSetObjectFacts(command)).getCode();
      switch (code) {
        case OK -> {
          return true;
        }
        case NO_SUCH_BUCKET, NO_SUCH_KEY, NO_SUCH_VERSION -> {
          return false;
        }
        case CONDITIONAL_CONFLICT -> {} // changes of bytes keep the key, whatever others do
        default -> throw MetadataUnavailableException.refused("the answer is " + code);
      }
    }
    throw MetadataUnavailableException.refused("others change it again and again");
  }

  /** Null: there is nothing to do. */
  private @Nullable SetObjectFacts renewal(
      String bucket, String key, VersionRef id, KmsVersions versions)
      throws S3Exception, MetadataUnavailableException, InterruptedException {
    if (!(metadata.version(bucket, key, id) instanceof VersionRead.Content content)) {
      return null;
    }
    ObjectRecord object = content.read().object();
    if (object.getFacts().getRunsCount() == 0) {
      return null;
    }
    ByteString wrapped = object.getFacts().getWrappedKey();
    Optional<Encryption> renewal = keys.renewal(wrapped, versions);
    return renewal.isEmpty()
        ? null
        : SetObjectFacts.newBuilder()
            .setBucket(bucket)
            .setKey(key)
            .setVersion(id)
            .setExpectedVersion(object.getVersion())
            .setExpectedWrappedKey(wrapped)
            .setWrappedKey(rewrapped(wrapped, renewal.get(), versions))
            .build();
  }

  private ByteString rewrapped(ByteString wrapped, Encryption how, KmsVersions versions)
      throws S3Exception, InterruptedException {
    try {
      return keys.rewrap(wrapped, null, how);
    } catch (S3Exception e) {
      if (how instanceof Encryption.Kms kms) {
        versions.ask(kms.keyId()); // tells whether it is this key alone
      }
      throw e;
    }
  }

  private void look(String bucket, KmsVersions versions)
      throws S3Exception, MetadataUnavailableException, InterruptedException {
    String key = "";
    String uploadId = "";
    boolean isMore = true;
    while (isMore) {
      UploadsPage page = metadata.uploads(new UploadsQuery(bucket, "", "", key, uploadId, PAGE));
      for (UploadRow upload : page.uploads()) {
        if (isOlder(upload, versions)) {
          progress = progress.withUpload();
        }
        requireAvailable(versions);
        key = upload.getKey();
        uploadId = upload.getUploadId();
      }
      isMore = page.truncated() && !page.uploads().isEmpty();
    }
  }

  private boolean isOlder(UploadRow upload, KmsVersions versions) throws InterruptedException {
    try {
      return !upload.getFacts().getWrappedKey().isEmpty()
          && keys.renewal(upload.getFacts().getWrappedKey(), versions).isPresent();
    } catch (S3Exception e) {
      return true;
    }
  }

  @Override
  public void close() {
    Thread last = last();
    if (last != null) {
      last.interrupt();
      try {
        last.join();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private synchronized @Nullable Thread last() {
    return running;
  }
}
