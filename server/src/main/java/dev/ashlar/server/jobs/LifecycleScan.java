package dev.ashlar.server.jobs;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import dev.ashlar.gateway.lifecycle.LifecycleDocuments;
import dev.ashlar.gateway.lifecycle.LifecycleJudge;
import dev.ashlar.gateway.lifecycle.LifecycleRules;
import dev.ashlar.gateway.lifecycle.Verdict;
import dev.ashlar.gateway.lifecycle.VersionFacts;
import dev.ashlar.gateway.version.VersionId;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.UploadsPage;
import dev.ashlar.protocol.client.UploadsQuery;
import dev.ashlar.protocol.client.VersionRead;
import dev.ashlar.protocol.client.VersionsPage;
import dev.ashlar.protocol.client.VersionsQuery;
import dev.ashlar.protocol.message.AbortUpload;
import dev.ashlar.protocol.message.BucketConfigAnswer;
import dev.ashlar.protocol.message.BucketConfigQuery;
import dev.ashlar.protocol.message.BucketDocument;
import dev.ashlar.protocol.message.BucketRow;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.LifecycleCounts;
import dev.ashlar.protocol.message.LifecycleScanRow;
import dev.ashlar.protocol.message.LifecycleScanRow.Phase;
import dev.ashlar.protocol.message.PutBucketDocument;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.UploadRow;
import dev.ashlar.protocol.message.VersionEntry;
import dev.ashlar.protocol.message.VersionRef;
import dev.ashlar.server.jobs.ListedVersions.Listed;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Some seconds of a scan of a bucket. First it deletes the versions that are due, then it aborts
 * uploads, and at last it moves versions to other storage classes, which takes much longer. Between
 * two pages it looks whether the rules still are the same.
 */
final class LifecycleScan {
  /** What an act costs, in versions that are looked at. */
  private static final int ACT_COST = 8;

  private static final int SAVE_TRIES = 3;

  private final LifecycleJob.Parts parts;
  private final long beganNanos = System.nanoTime();

  /** As this was last read. */
  private BucketRow bucket;

  private LifecycleRules rules = new LifecycleRules(List.of(), false);
  private LifecycleScanRow.Builder scan = LifecycleScanRow.newBuilder();
  private LifecycleCounts.Builder counts = LifecycleCounts.newBuilder();

  /** What is passed in this phase; read again in each slice. */
  private List<String> ranges = List.of();

  private LifecycleRules rulesOfRange = rules;
  private ListedVersions listed = new ListedVersions("");

  /** The time is over, and some versions of the present page are not moved yet. */
  private boolean isStopped;

  private final LifecycleDeletions deletions;

  /** Behind which the next page begins. */
  private String cursorKey = "";

  private @Nullable VersionRef cursorVersion;
  private String cursorUpload = "";

  /** How a slice ended. */
  enum End {
    /** The scan of this day is over. */
    DONE,
    /** It goes on. */
    MORE,
    /** It goes on when the drives have room. */
    FULL
  }

  LifecycleScan(LifecycleJob.Parts parts, BucketRow bucket) {
    this.parts = parts;
    this.bucket = bucket;
    this.deletions =
        new LifecycleDeletions(parts.metadata(), bucket.getName(), act -> count(act, 1));
  }

  /** Of the bucket's configuration as this has left it. */
  long revision() {
    return bucket.getConfigRevision();
  }

  /** On which the scan began. */
  long day() {
    return scan.getDay();
  }

  /** For how many days the deletions have been going on that are not done yet. */
  long daysBehind() {
    long today = parts.calendar().day(parts.now().getAsLong());
    return deletes(scan.getPhase()) ? Math.max(0, today - scan.getDay()) : 0;
  }

  End run() throws MetadataUnavailableException, InterruptedException {
    if (!load()) {
      return End.DONE;
    }
    enter(scan.getRange());
    End end = End.MORE;
    String begunAt = position();
    while (end == End.MORE
        && !isStopped
        && !(isSliceOver(beganNanos) && !position().equals(begunAt))) {
      if (!areRulesSame()) {
        return End.MORE;
      }
      end = scan.getRange() < ranges.size() ? page() : nextPhase();
    }
    deletions.carryOut("");
    return save() ? end : End.MORE;
  }

  private boolean isSliceOver(long sinceNanos) {
    return System.nanoTime() - sinceNanos >= parts.slice().toNanos();
  }

  private String position() {
    return scan.getPhaseValue() + " " + scan.getRange() + " " + scan.getKey();
  }

  /** Reads rules and progress; returns whether there is something to do. */
  private boolean load() throws MetadataUnavailableException {
    BucketConfigAnswer answer = read(LifecycleDocuments.RULES, LifecycleDocuments.SCAN);
    ByteString document = document(answer, LifecycleDocuments.RULES);
    LifecycleDocuments.Stored stored = document == null ? null : LifecycleDocuments.read(document);
    long now = parts.now().getAsLong();
    long today = parts.calendar().day(now);
    if (answer.hasBucket() && answer.getBucket().getId() == bucket.getId()) {
      bucket = answer.getBucket();
    }
    scan.setDay(today);
    if (document == null || stored == null || bucket.getId() != answer.getBucket().getId()) {
      return false; // without rules, with those of a later build, or another bucket of this name
    }
    rules = stored.rules();
    long digest = digest(document);
    LifecycleScanRow before = scanned(document(answer, LifecycleDocuments.SCAN));
    boolean isSame =
        before.getRules() == digest
            && before.getBucket() == bucket.getId()
            && before.getDayMs() == parts.calendar().dayMs();
    if (isSame && (before.getDay() == today || deletes(before.getPhase()))) {
      scan = before.toBuilder();
      counts = before.getCounts().toBuilder();
      return before.getPhase() != Phase.DONE;
    }
    scan =
        LifecycleScanRow.newBuilder()
            .setRules(digest)
            .setBucket(bucket.getId())
            .setDay(today)
            .setDayMs(parts.calendar().dayMs())
            .setBeganMs(now);
    return true;
  }

  /** Moves that take longer than a day do not hold up the deletions of the next one. */
  private static boolean deletes(Phase phase) {
    return phase == Phase.DELETING || phase == Phase.ABORTING;
  }

  private BucketConfigAnswer read(int... kinds) throws MetadataUnavailableException {
    BucketConfigQuery.Builder query = BucketConfigQuery.newBuilder().setBucket(bucket.getName());
    for (int kind : kinds) {
      query.addKinds(kind);
    }
    return parts.metadata().bucket(query.build(), null).config();
  }

  private static @Nullable ByteString document(BucketConfigAnswer answer, int kind) {
    for (BucketDocument document : answer.getDocumentsList()) {
      if (document.getKind() == kind) {
        return document.getDocument();
      }
    }
    return null;
  }

  private static LifecycleScanRow scanned(@Nullable ByteString document) {
    try {
      return document == null
          ? LifecycleScanRow.getDefaultInstance()
          : LifecycleScanRow.parseFrom(document);
    } catch (InvalidProtocolBufferException e) {
      return LifecycleScanRow.getDefaultInstance(); // begins anew
    }
  }

  private static long digest(ByteString document) {
    try {
      byte[] digest = MessageDigest.getInstance("SHA-256").digest(document.toByteArray());
      return ByteBuffer.wrap(digest).getLong();
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Looks whether the rules have not changed; learns of other changes of the bucket. */
  private boolean areRulesSame() throws MetadataUnavailableException {
    BucketConfigQuery query =
        BucketConfigQuery.newBuilder()
            .setBucket(bucket.getName())
            .setKnownId(bucket.getId())
            .setKnownRevision(bucket.getConfigRevision())
            .addKinds(LifecycleDocuments.RULES)
            .build();
    BucketConfigAnswer answer = parts.metadata().bucket(query, null).config();
    if (answer.getUnchanged()) {
      return true;
    }
    ByteString document = document(answer, LifecycleDocuments.RULES);
    boolean isSame =
        answer.getBucket().getId() == bucket.getId()
            && document != null
            && digest(document) == scan.getRules();
    bucket = isSame ? answer.getBucket() : bucket;
    return isSame;
  }

  private LifecycleRules rulesOfPhase() {
    return switch (scan.getPhase()) {
      case DELETING -> rules.deleting();
      case ABORTING -> rules.aborting();
      case MOVING -> rules.moving();
      case DONE, UNRECOGNIZED -> new LifecycleRules(List.of(), false);
    };
  }

  /** Begins with a range behind the key that was passed last. */
  private void enter(int range) {
    ranges = rulesOfPhase().prefixes();
    scan.setRange(range);
    rulesOfRange = range < ranges.size() ? rules.within(ranges.get(range)) : rules;
    cursorKey = scan.getKey();
    cursorVersion = null;
    cursorUpload = "";
    listed = new ListedVersions(scan.getKey());
  }

  private End nextPhase() {
    scan.clearKey();
    switch (scan.getPhase()) {
      case DELETING -> scan.setPhase(Phase.ABORTING);
      case ABORTING -> scan.setPhase(Phase.MOVING);
      case MOVING, DONE, UNRECOGNIZED -> {
        scan.setPhase(Phase.DONE).setEndedMs(parts.now().getAsLong());
        return End.DONE;
      }
    }
    enter(0);
    return End.MORE;
  }

  private End page() throws MetadataUnavailableException, InterruptedException {
    return switch (scan.getPhase()) {
      case ABORTING -> abortPage();
      case MOVING -> movePage();
      default -> deletePage();
    };
  }

  private LifecycleJudge judge() {
    return new LifecycleJudge(
        rulesOfRange, parts.calendar(), VersionId.areKept(bucket), bucket.getHasLock());
  }

  private Verdict judge(LifecycleJudge judge, Listed version, long now)
      throws MetadataUnavailableException {
    return judge.judge(version.judged(), now, () -> facts(version.entry()));
  }

  /** What a listing does not tell. It does not matter if the version is gone. */
  private VersionFacts facts(VersionEntry entry) throws MetadataUnavailableException {
    VersionRead read =
        parts.metadata().version(bucket.getName(), entry.getName(), VersionId.ref(entry));
    return read instanceof VersionRead.Content content
        ? new VersionFacts(
            content.read().object().getFacts().getTagsList(), content.read().object().getLock())
        : VersionFacts.NONE;
  }

  /** Hands on what can be judged, and returns how many versions were listed. */
  private int list(ListedVersions.Taker<MetadataUnavailableException> taker)
      throws MetadataUnavailableException {
    String prefix = ranges.get(scan.getRange());
    VersionsPage page =
        parts
            .metadata()
            .versions(
                new VersionsQuery(
                    bucket.getName(), prefix, "", cursorKey, cursorVersion, parts.page()));
    for (VersionEntry entry : page.entries()) {
      listed.next(entry, taker);
    }
    if (page.truncated()) {
      VersionEntry end = page.entries().getLast();
      cursorKey = end.getName();
      cursorVersion = VersionRef.newBuilder().setNumber(end.getVersion()).build();
    } else {
      listed.end(taker);
      cursorKey = "";
    }
    return page.entries().size();
  }

  /** The page is dealt with. */
  private void pass(String passedKey) {
    if (cursorKey.isEmpty()) {
      scan.clearKey();
      enter(scan.getRange() + 1);
    } else {
      scan.setKey(passedKey);
    }
  }

  private End deletePage() throws MetadataUnavailableException, InterruptedException {
    LifecycleJudge judge = judge();
    long now = parts.now().getAsLong();
    int[] acts = new int[1];
    int number =
        list(
            version ->
                acts[0] +=
                    switch (judge(judge, version, now)) {
                      case Verdict.Expire expire -> deletions.expire(version);
                      case Verdict.Delete(int newerKept) -> deletions.delete(version, newerKept);
                      case Verdict.Locked locked -> {
                        count(LifecycleAct.LOCKED, 1);
                        yield 0;
                      }
                      case Verdict.Move move -> 0;
                      case Verdict.Keep keep -> 0;
                    });
    acts[0] += deletions.carryOut(cursorKey);
    counts.setVersions(counts.getVersions() + number);
    parts.meters().versions().increment(number);
    pass(listed.passedKey());
    parts.rate().take(number + (long) ACT_COST * acts[0]);
    return End.MORE;
  }

  private End movePage() throws MetadataUnavailableException, InterruptedException {
    long pageNanos = System.nanoTime();
    LifecycleMoves moves =
        new LifecycleMoves(parts, bucket.getName(), () -> isSliceOver(pageNanos));
    LifecycleJudge judge = judge();
    long now = parts.now().getAsLong();
    int number =
        list(
            version -> {
              if (judge(judge, version, now) instanceof Verdict.Move(String storageClass)) {
                moves.add(version, storageClass);
              }
            });
    LifecycleMoves.End end = moves.carryOut();
    count(LifecycleAct.MOVED, moves.movedVersions());
    count(LifecycleAct.CHANGED, moves.changedVersions());
    count(LifecycleAct.FAILED, moves.failedVersions());
    counts.setMovedBytes(counts.getMovedBytes() + moves.movedBytes());
    parts.meters().versions().increment(number);
    parts.meters().bytes().increment((double) moves.movedBytes());
    isStopped = end == LifecycleMoves.End.STOPPED;
    if (end == LifecycleMoves.End.ALL) {
      pass(listed.passedKey());
    } else if (!moves.triedKey().isEmpty()) {
      scan.setKey(moves.triedKey()); // what could not be moved is not tried again today
    }
    parts.rate().take(number);
    return end == LifecycleMoves.End.FULL ? End.FULL : End.MORE;
  }

  private End abortPage() throws MetadataUnavailableException, InterruptedException {
    String prefix = ranges.get(scan.getRange());
    UploadsPage page =
        parts
            .metadata()
            .uploads(
                new UploadsQuery(
                    bucket.getName(), prefix, "", cursorKey, cursorUpload, parts.page()));
    long now = parts.now().getAsLong();
    int acts = 0;
    String passedKey = scan.getKey();
    String key = cursorKey;
    for (UploadRow upload : page.uploads()) {
      passedKey = upload.getKey().equals(key) ? passedKey : key;
      key = upload.getKey();
      boolean isDue =
          rulesOfRange
              .abort(key, upload.getInitiatedAtMs(), parts.calendar())
              .filter(due -> due.timeMs() <= now)
              .isPresent();
      if (isDue) {
        abort(upload);
        acts++;
      }
    }
    if (page.truncated()) {
      cursorKey = key;
      cursorUpload = page.uploads().getLast().getUploadId();
    } else {
      cursorKey = "";
    }
    pass(passedKey);
    parts.rate().take(page.uploads().size() + (long) ACT_COST * acts);
    return End.MORE;
  }

  private void abort(UploadRow upload) throws MetadataUnavailableException {
    AbortUpload command =
        AbortUpload.newBuilder()
            .setBucket(bucket.getName())
            .setKey(upload.getKey())
            .setUploadId(upload.getUploadId())
            .build();
    ResultCode code =
        parts.metadata().submit(Command.newBuilder().setAbortUpload(command)).getCode();
    count(code == ResultCode.OK ? LifecycleAct.UPLOAD : LifecycleAct.CHANGED, 1);
  }

  private void count(LifecycleAct act, long number) {
    act.addTo(counts, number);
    parts.meters().count(act, number);
  }

  /** Records how far the scan is, unless the rules have changed. */
  private boolean save() throws MetadataUnavailableException {
    scan.setCounts(counts);
    for (int tries = 0; tries < SAVE_TRIES; tries++) {
      CommandResult result =
          parts
              .metadata()
              .submit(
                  Command.newBuilder()
                      .setPutBucketDocument(
                          PutBucketDocument.newBuilder()
                              .setBucket(bucket.getName())
                              .setExpectedRevision(bucket.getConfigRevision())
                              .setKind(LifecycleDocuments.SCAN)
                              .setDocument(scan.build().toByteString())));
      if (result.getCode() == ResultCode.OK) {
        bucket = bucket.toBuilder().setConfigRevision(result.getVersion()).build();
        return true;
      }
      if (!areRulesSame()) {
        return false;
      }
    }
    return false;
  }
}
