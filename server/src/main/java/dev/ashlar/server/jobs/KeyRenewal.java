package dev.ashlar.server.jobs;

import dev.ashlar.gateway.encryption.key.Encryption;
import dev.ashlar.gateway.encryption.key.KeyWrapping;
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
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Looks at all versions of all buckets, and seals the data keys anew that an earlier master key, or
 * an earlier version of a KMS key, has sealed. No byte of an object moves. It runs when it is asked
 * for, once at a time, in the process that was asked; done twice, it does no harm.
 */
public final class KeyRenewal implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(KeyRenewal.class);
  private static final RateLimitedLog FAILURES = new RateLimitedLog(LOG, Level.WARN);
  private static final int PAGE = 1000;
  private static final int VERSIONS_AT_ONCE = 8;

  private final MetadataClient metadata;
  private final KeyWrapping keys;
  private @Nullable Thread running;
  private volatile Progress progress = new Progress("not started", "", 0, 0, 0, 0);

  /**
   * How far it is.
   *
   * @param state not started, running, done, or why it has ended before
   * @param bucket that is looked at; empty: none
   * @param versions that were looked at
   * @param renewed data keys that were sealed anew
   * @param failed data keys that could not be
   * @param uploads in progress whose data key an earlier key has sealed, and that keep it
   */
  public record Progress(
      String state, String bucket, long versions, long renewed, long failed, long uploads) {
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
    if (running != null && running.isAlive()) {
      return false;
    }
    progress = new Progress("running", "", 0, 0, 0, 0);
    running = Thread.ofVirtual().name("key-renewal").start(this::run);
    return true;
  }

  private void run() {
    try {
      Map<String, String> versions = new ConcurrentHashMap<>();
      for (BucketRow bucket : metadata.buckets()) {
        progress = progress.in(bucket.getName());
        renew(bucket.getName(), versions);
        look(bucket.getName(), versions);
      }
      progress = progress.state("done");
      LOG.info("The renewal of data keys is done: {}", progress);
    } catch (InterruptedException e) {
      progress = progress.state("stopped");
    } catch (MetadataUnavailableException | RuntimeException e) {
      LOG.warn("The renewal of data keys has ended early.", e);
      progress = progress.state("failed: " + e.getMessage());
    }
  }

  private void renew(String bucket, Map<String, String> versions)
      throws MetadataUnavailableException, InterruptedException {
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
            return true;
          });
      isMore = page.truncated() && !page.entries().isEmpty();
      if (isMore) {
        VersionEntry last = page.entries().getLast();
        key = last.getName();
        marker = VersionRef.newBuilder().setNumber(last.getVersion()).build();
      }
    }
  }

  private void renew(String bucket, VersionEntry entry, Map<String, String> versions)
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

  /** Another write of the version at the same moment has a key that is up to date. */
  private boolean isRenewed(String bucket, VersionEntry entry, Map<String, String> versions)
      throws S3Exception, MetadataUnavailableException, InterruptedException {
    VersionRef id =
        entry.getVersioned()
            ? VersionRef.newBuilder().setNumber(entry.getVersion()).build()
            : VersionRef.getDefaultInstance();
    if (!(metadata.version(bucket, entry.getName(), id) instanceof VersionRead.Content content)) {
      return false;
    }
    ObjectRecord object = content.read().object();
    if (object.getFacts().getRunsCount() == 0) {
      return false;
    }
    Optional<Encryption> renewal = keys.renewal(object.getFacts().getWrappedKey(), versions);
    if (renewal.isEmpty()) {
      return false;
    }
    SetObjectFacts command =
        SetObjectFacts.newBuilder()
            .setBucket(bucket)
            .setKey(entry.getName())
            .setVersion(id)
            .setExpectedVersion(object.getVersion())
            .setWrappedKey(keys.rewrap(object.getFacts().getWrappedKey(), null, renewal.get()))
            .build();
    ResultCode code = metadata.submit(Command.newBuilder().setSetObjectFacts(command)).getCode();
    if (code == ResultCode.INVALID_COMMAND) {
      throw MetadataUnavailableException.refused("an older metadata version is in use");
    }
    return code == ResultCode.OK;
  }

  private void look(String bucket, Map<String, String> versions)
      throws MetadataUnavailableException, InterruptedException {
    String key = "";
    String uploadId = "";
    boolean isMore = true;
    while (isMore) {
      UploadsPage page = metadata.uploads(new UploadsQuery(bucket, "", "", key, uploadId, PAGE));
      for (UploadRow upload : page.uploads()) {
        if (isOlder(upload, versions)) {
          progress = progress.withUpload();
        }
        key = upload.getKey();
        uploadId = upload.getUploadId();
      }
      isMore = page.truncated() && !page.uploads().isEmpty();
    }
  }

  private boolean isOlder(UploadRow upload, Map<String, String> versions)
      throws InterruptedException {
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
