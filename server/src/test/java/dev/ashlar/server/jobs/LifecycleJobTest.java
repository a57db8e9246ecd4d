package dev.ashlar.server.jobs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.gateway.lifecycle.LifecycleDocuments;
import dev.ashlar.gateway.notification.EventName;
import dev.ashlar.metadata.memory.TestBlobs;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.client.UploadsQuery;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CompletePart;
import dev.ashlar.protocol.message.CompleteUpload;
import dev.ashlar.protocol.message.CreateUpload;
import dev.ashlar.protocol.message.DeleteBucket;
import dev.ashlar.protocol.message.DeleteTarget;
import dev.ashlar.protocol.message.EventRow;
import dev.ashlar.protocol.message.LifecycleScanRow;
import dev.ashlar.protocol.message.LifecycleScanRow.Phase;
import dev.ashlar.protocol.message.ObjectFacts;
import dev.ashlar.protocol.message.ObjectLock;
import dev.ashlar.protocol.message.PartRow;
import dev.ashlar.protocol.message.PutBucketDocument;
import dev.ashlar.protocol.message.PutPart;
import dev.ashlar.protocol.message.SetObjectFacts;
import dev.ashlar.protocol.message.Tag;
import dev.ashlar.protocol.message.UploadRow;
import dev.ashlar.protocol.message.VersionEntry;
import dev.ashlar.protocol.message.VersionRef;
import dev.ashlar.protocol.message.Versioning;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class LifecycleJobTest {
  private static final String EXPIRES = "<Expiration><Days>1</Days></Expiration>";
  private static final String NONCURRENT =
      "<NoncurrentVersionExpiration><NoncurrentDays>1</NoncurrentDays>"
          + "</NoncurrentVersionExpiration>";
  private static final String MARKERS =
      "<Expiration><ExpiredObjectDeleteMarker>true</ExpiredObjectDeleteMarker></Expiration>";
  private static final String ABORTS =
      "<AbortIncompleteMultipartUpload><DaysAfterInitiation>1</DaysAfterInitiation>"
          + "</AbortIncompleteMultipartUpload>";
  private static final ObjectLock HELD =
      ObjectLock.newBuilder().setLegalHold(true).setLegalHoldTold(true).build();

  private final LifecycleStore store = new LifecycleStore();

  /** What a client does between the judgement and the act. */
  private interface Action {
    void run() throws Exception;
  }

  @AfterEach
  void close() {
    store.close();
  }

  private static String prefix(String prefix, String actions) {
    return "<Filter><Prefix>" + prefix + "</Prefix></Filter>" + actions;
  }

  private static String moves(int days, String storageClass) {
    return "<Transition><Days>"
        + days
        + "</Days><StorageClass>"
        + storageClass
        + "</StorageClass></Transition>";
  }

  /** Two days later everything that is due after one is. */
  private void runTwoDaysLater() throws Exception {
    store.clock.advanceMs(2 * LifecycleStore.DAY);
    LifecycleStore.runAll(store.newJob());
  }

  private void runTwoDaysLater(Predicate<Command.Builder> before, Action action) throws Exception {
    store.clock.advanceMs(2 * LifecycleStore.DAY);
    LifecycleStore.runAll(new LifecycleJob(store.parts(between(before, action), 3)));
  }

  /** Metadata that lets something happen, once, before it gets a command of this kind. */
  private MetadataClient between(Predicate<Command.Builder> before, Action action) {
    return once(
        (method, arguments) ->
            method.equals("submit") && before.test((Command.Builder) arguments[0]),
        action,
        () -> {});
  }

  /** A call of metadata. */
  private interface Call {
    boolean isMeant(String method, Object[] arguments);
  }

  /**
   * Metadata that lets something happen, once, before such a call, and something else behind it.
   */
  private MetadataClient once(Call call, Action before, Action behind) {
    boolean[] isDone = new boolean[1];
    return (MetadataClient)
        Proxy.newProxyInstance(
            getClass().getClassLoader(),
            new Class<?>[] {MetadataClient.class},
            (proxy, method, arguments) -> {
              boolean isNow = !isDone[0] && call.isMeant(method.getName(), arguments);
              isDone[0] |= isNow;
              if (isNow) {
                before.run();
              }
              try {
                return method.invoke(store.metadata, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              } finally {
                if (isNow) {
                  behind.run();
                }
              }
            });
  }

  private double counted(String name, String tag, String value) {
    return store.meters.get(name).tag(tag, value).counter().count();
  }

  @Test
  void presentObjectsExpire() throws Exception {
    store.rules(prefix("p/", EXPIRES));
    for (int i = 0; i < 10; i++) {
      store.put("p/" + i, i);
    }
    store.put("other", 5);
    store.clock.advanceMs(LifecycleStore.DAY);
    store.put("p/young", 5);
    LifecycleStore.runAll(store.newJob());
    assertEquals(12, store.versions().size());
    store.clock.advanceMs(LifecycleStore.DAY);
    LifecycleStore.runAll(store.newJob());
    assertEquals(List.of("other 5", "p/young 5"), store.shown());
    LifecycleScanRow scan = store.scan();
    assertEquals(Phase.DONE, scan.getPhase());
    assertEquals(11, scan.getCounts().getVersions());
    assertEquals(10, scan.getCounts().getExpired());
    assertEquals(store.clock.millis(), scan.getEndedMs());
    assertEquals(10, counted("ashlar.lifecycle.actions", "action", "expired"));
    assertEquals(22, store.meters.get("ashlar.lifecycle.versions").counter().count());
  }

  @Test
  void eventsTellThatRulesHaveDeleted() throws Exception {
    int all = 1 << EventRow.Kind.DELETED_VALUE | 1 << EventRow.Kind.MARKED_DELETED_VALUE;
    store.metadata.require(
        Command.newBuilder()
            .setPutBucketDocument(
                PutBucketDocument.newBuilder().setBucket("b").setKind(18).setNotifiedEvents(all)));
    store.rules(EXPIRES + NONCURRENT);
    store.put("k", 1);
    runTwoDaysLater();
    store.versioning(Versioning.VERSIONING_ENABLED);
    store.put("k", 1);
    runTwoDaysLater();
    store.put("k", 1);
    store.delete("k");
    assertEquals(
        List.of(
            "LifecycleExpiration:Delete",
            "LifecycleExpiration:DeleteMarkerCreated",
            "ObjectRemoved:DeleteMarkerCreated"),
        store.metadata.events(null, 10).events().stream()
            .map(event -> EventName.of(event).text())
            .toList());
  }

  @Test
  void whereVersionsAreKeptEverythingGoesInItsTime() throws Exception {
    store.versioning(Versioning.VERSIONING_ENABLED);
    store.rules(EXPIRES + NONCURRENT);
    for (int i = 1; i <= 8; i++) {
      store.put("k", i);
    }
    runTwoDaysLater();
    assertEquals(List.of("k D", "k 8"), store.shown());
    assertEquals(7, store.scan().getCounts().getNoncurrent());
    runTwoDaysLater();
    assertEquals(List.of("k D"), store.shown());
    runTwoDaysLater();
    assertEquals(List.of(), store.shown());
    assertEquals(1, store.scan().getCounts().getMarkers());
  }

  @Test
  void aDayIsScannedOnceUnlessTheRulesChange() throws Exception {
    store.rules(EXPIRES);
    store.put("k", 5);
    store.clock.advanceMs(2 * LifecycleStore.DAY);
    LifecycleJob job = store.newJob();
    LifecycleStore.runAll(job);
    assertEquals(List.of(), store.shown());
    long begun = store.scan().getBeganMs();
    store.clock.advanceMs(1000);
    assertFalse(job.run());
    LifecycleStore.runAll(store.newJob()); // after a restart
    assertEquals(begun, store.scan().getBeganMs());
    store.rules("<Expiration><Date>2020-01-01</Date></Expiration>");
    store.put("k", 5);
    LifecycleStore.runAll(job);
    assertEquals(List.of(), store.shown());
    assertEquals(begun + 1000, store.scan().getBeganMs());
    store.clock.advanceMs(LifecycleStore.DAY);
    assertTrue(job.run());
  }

  @Test
  void uploadsAreAborted() throws Exception {
    store.rules(prefix("m", ABORTS));
    for (int i = 0; i < 10; i++) {
      upload("m", "id" + i);
      upload("n", "id" + i);
    }
    store.clock.advanceMs(LifecycleStore.DAY);
    upload("m", "young");
    runOneDayLater();
    List<UploadRow> left =
        store.metadata.uploads(new UploadsQuery("b", "", "", "", "", 100)).uploads();
    assertEquals(11, left.size());
    assertEquals("young", left.getFirst().getUploadId());
    assertEquals(10, store.scan().getCounts().getUploads());
  }

  private void runOneDayLater() throws Exception {
    store.clock.advanceMs(LifecycleStore.DAY);
    LifecycleStore.runAll(store.newJob());
  }

  private void upload(String key, String id) {
    store.metadata.require(
        Command.newBuilder()
            .setCreateUpload(
                CreateUpload.newBuilder()
                    .setUpload(UploadRow.newBuilder().setBucket("b").setKey(key).setUploadId(id))));
  }

  @Test
  void versionsAreMovedAndStayTheSame() throws Exception {
    store.versioning(Versioning.VERSIONING_ENABLED);
    store.rules(
        moves(1, "A")
            + "<NoncurrentVersionTransition><NoncurrentDays>1</NoncurrentDays>"
            + "<StorageClass>B</StorageClass></NoncurrentVersionTransition>");
    store.put("k", 5000);
    store.put("k", 70_000);
    store.put("gone", 10);
    store.delete("gone");
    List<VersionEntry> before = store.versions();
    runTwoDaysLater();
    assertEquals(List.of("gone D", "gone 10B", "k 70000A", "k 5000B"), store.shown());
    List<VersionEntry> after = store.versions();
    for (int i = 0; i < before.size(); i++) {
      assertEquals(before.get(i).getVersion(), after.get(i).getVersion());
      assertEquals(
          before.get(i).getSummary(),
          after.get(i).getSummary().toBuilder().clearStorageClass().build());
    }
    assertEquals(3, store.scan().getCounts().getMoved());
    assertEquals(75_010, store.scan().getCounts().getMovedBytes());
    assertEquals(75_010, store.meters.get("ashlar.lifecycle.moved").counter().count());
    runTwoDaysLater();
    assertEquals(0, store.scan().getCounts().getMoved());
  }

  @Test
  void whatCannotBeMovedIsLeftForTheNextScan() throws Exception {
    store.rules(moves(1, "A"));
    store.put("k", 5000);
    Map<UUID, ShardStore> away = Map.copyOf(store.drives);
    store.drives.clear();
    runTwoDaysLater();
    assertEquals(List.of("k 5000"), store.shown());
    assertEquals(1, store.scan().getCounts().getFailed());
    assertEquals(1, counted("ashlar.lifecycle.left", "reason", "failed"));
    store.drives.putAll(away);
    runTwoDaysLater();
    assertEquals(List.of("k 5000A"), store.shown());
  }

  @Test
  void whatIsPutBetweenJudgementAndActStays() throws Exception {
    store.rules(EXPIRES);
    store.put("k", 5);
    runTwoDaysLater(Command.Builder::hasDeleteObjects, () -> store.put("k", 6));
    assertEquals(List.of("k 6"), store.shown());
    assertEquals(1, store.scan().getCounts().getChanged());
    assertEquals(1, counted("ashlar.lifecycle.left", "reason", "changed"));
  }

  @Test
  void whatIsPutBetweenJudgementAndActGetsNoMarker() throws Exception {
    store.versioning(Versioning.VERSIONING_ENABLED);
    store.rules(EXPIRES + NONCURRENT);
    store.put("k", 4);
    store.put("k", 5);
    runTwoDaysLater(Command.Builder::hasDeleteObjects, () -> store.put("k", 6));
    assertEquals(List.of("k 6", "k 5", "k 4"), store.shown());
  }

  @Test
  void aVersionThatHasBecomeThePresentOneStays() throws Exception {
    store.versioning(Versioning.VERSIONING_ENABLED);
    store.rules(NONCURRENT);
    store.put("k", 4);
    store.put("k", 5);
    VersionEntry newest = store.versions().getFirst();
    runTwoDaysLater(
        Command.Builder::hasDeleteObjects,
        () -> store.delete(DeleteTarget.newBuilder().setKey("k").setVersion(ref(newest))));
    assertEquals(List.of("k 4"), store.shown());
  }

  private static VersionRef ref(VersionEntry entry) {
    return VersionRef.newBuilder().setNumber(entry.getVersion()).build();
  }

  @Test
  void aVersionBelowAMarkerThatIsRemovedStays() throws Exception {
    store.versioning(Versioning.VERSIONING_ENABLED);
    store.rules(NONCURRENT);
    store.put("k", 4);
    store.delete("k");
    VersionEntry marker = store.versions().getFirst();
    runTwoDaysLater(
        Command.Builder::hasDeleteObjects,
        () -> store.delete(DeleteTarget.newBuilder().setKey("k").setVersion(ref(marker))));
    assertEquals(List.of("k 4"), store.shown());
  }

  @Test
  void aNullVersionThatIsReplacedStays() throws Exception {
    store.put("k", 3);
    store.versioning(Versioning.VERSIONING_ENABLED);
    store.put("k", 4);
    store.versioning(Versioning.VERSIONING_SUSPENDED);
    store.rules(NONCURRENT);
    runTwoDaysLater(Command.Builder::hasDeleteObjects, () -> store.put("k", 5));
    assertEquals(List.of("k 5", "k 4"), store.shown());
  }

  @Test
  void aNullVersionThatIsReplacedBelowAMarkerStays() throws Exception {
    store.put("k", 3);
    store.versioning(Versioning.VERSIONING_ENABLED);
    store.delete("k");
    store.rules(NONCURRENT);
    runTwoDaysLater(
        Command.Builder::hasDeleteObjects,
        () -> {
          store.versioning(Versioning.VERSIONING_SUSPENDED);
          store.put("k", 5);
          store.versioning(Versioning.VERSIONING_ENABLED);
          store.delete("k");
        });
    assertEquals(List.of("k D", "k 5", "k D"), store.shown());
  }

  @Test
  void asManyNewerVersionsStayAsWasPromised() throws Exception {
    store.versioning(Versioning.VERSIONING_ENABLED);
    store.rules(
        "<NoncurrentVersionExpiration><NoncurrentDays>1</NoncurrentDays>"
            + "<NewerNoncurrentVersions>2</NewerNoncurrentVersions>"
            + "</NoncurrentVersionExpiration>");
    for (int i = 1; i <= 5; i++) {
      store.put("k", i);
      store.put("marked", i);
    }
    store.delete("marked");
    List<VersionRef> deleted =
        List.of(ref(version("k 3")), ref(version("marked 4")), ref(version("marked 5")));
    MetadataClient metadata =
        between(
            Command.Builder::hasDeleteObjects,
            () -> {
              store.delete(DeleteTarget.newBuilder().setKey("k").setVersion(deleted.get(0)));
              store.delete(DeleteTarget.newBuilder().setKey("marked").setVersion(deleted.get(1)));
              store.delete(DeleteTarget.newBuilder().setKey("marked").setVersion(deleted.get(2)));
            });
    store.clock.advanceMs(2 * LifecycleStore.DAY);
    LifecycleStore.runAll(new LifecycleJob(store.parts(metadata, 100)));
    assertEquals(List.of("k 5", "k 4", "k 2", "marked D", "marked 3", "marked 2"), store.shown());
    assertEquals(3, store.scan().getCounts().getChanged());
  }

  private VersionEntry version(String shown) throws Exception {
    return store.versions().get(store.shown().indexOf(shown));
  }

  @Test
  void aMarkerOverWhichSomethingIsPutStays() throws Exception {
    store.versioning(Versioning.VERSIONING_ENABLED);
    store.rules(MARKERS);
    store.delete("k");
    runTwoDaysLater(Command.Builder::hasDeleteObjects, () -> store.put("k", 5));
    assertEquals(List.of("k 5", "k D"), store.shown());
  }

  @Test
  void whatIsLockedBetweenJudgementAndActStays() throws Exception {
    store.lock();
    store.rules(NONCURRENT);
    store.put("k", 4);
    store.put("k", 5);
    VersionEntry older = store.versions().getLast();
    runTwoDaysLater(
        Command.Builder::hasDeleteObjects,
        () ->
            store.metadata.require(
                Command.newBuilder()
                    .setSetObjectFacts(
                        SetObjectFacts.newBuilder()
                            .setBucket("b")
                            .setKey("k")
                            .setVersion(ref(older))
                            .setLegalHold(true))));
    assertEquals(List.of("k 5", "k 4"), store.shown());
    assertEquals(1, store.scan().getCounts().getLocked());
  }

  @Test
  void lockedVersionsStayUntilTheyAreFree() throws Exception {
    store.lock();
    store.rules(EXPIRES + NONCURRENT);
    store.put("held", 4, List.of(), HELD);
    store.put("kept", 4, List.of(), retained(10));
    store.put("held", 5);
    store.put("kept", 5);
    runTwoDaysLater();
    List<String> all = List.of("held D", "held 5", "held 4", "kept D", "kept 5", "kept 4");
    assertEquals(all, store.shown());
    assertEquals(2, store.scan().getCounts().getLocked());
    runTwoDaysLater();
    assertEquals(List.of("held D", "held 4", "kept D", "kept 4"), store.shown());
    store.clock.advanceMs(10 * LifecycleStore.DAY);
    LifecycleStore.runAll(store.newJob());
    assertEquals(List.of("held D", "held 4", "kept D"), store.shown());
  }

  private ObjectLock retained(int days) {
    return ObjectLock.newBuilder()
        .setMode(ObjectLock.Mode.COMPLIANCE)
        .setRetainUntilMs(store.clock.millis() + days * LifecycleStore.DAY)
        .build();
  }

  @Test
  void whatReplacesAVersionThatWasToBeMovedStaysInItsClass() throws Exception {
    store.rules(moves(1, "A"));
    store.put("k", 5000);
    store.clock.advanceMs(2 * LifecycleStore.DAY);
    MetadataClient listed =
        once(
            (method, arguments) -> method.equals("versions"), () -> {}, () -> store.put("k", 6000));
    LifecycleStore.runAll(new LifecycleJob(store.parts(listed, 3)));
    assertEquals(List.of("k 6000"), store.shown());
    assertEquals(1, store.scan().getCounts().getChanged());
  }

  @Test
  void rulesThatAreRemovedWhileAScanRunsDoNothingMore() throws Exception {
    store.rules(EXPIRES);
    for (int i = 0; i < 300; i++) {
      store.put("k%03d".formatted(i), 1);
    }
    runTwoDaysLater(
        Command.Builder::hasDeleteObjects,
        () ->
            store.metadata.require(
                Command.newBuilder()
                    .setPutBucketDocument(
                        PutBucketDocument.newBuilder()
                            .setBucket("b")
                            .setKind(LifecycleDocuments.RULES))));
    assertEquals(298, store.versions().size()); // what was on its way is deleted
  }

  @Test
  void otherChangesOfTheBucketDoNotEndAScan() throws Exception {
    store.rules(EXPIRES);
    for (int i = 0; i < 10; i++) {
      store.put("k" + i, 1);
    }
    runTwoDaysLater(
        Command.Builder::hasDeleteObjects, () -> store.versioning(Versioning.VERSIONING_ENABLED));
    assertEquals(20, store.versions().size()); // markers are in the way of none of them
    assertEquals(Phase.DONE, store.scan().getPhase());
  }

  /** Another gateway continues behind what was recorded, and does nothing twice. */
  @Test
  void scansContinueWhereMetadataWasLost() throws Exception {
    store.rules(EXPIRES);
    for (int i = 0; i < 300; i++) {
      store.put("k%03d".formatted(i), 1);
    }
    store.clock.advanceMs(2 * LifecycleStore.DAY);
    int[] left = {20};
    store.metadata.observe(
        (command, applied) -> {
          if (command.hasDeleteObjects() && --left[0] == 0) {
            store.metadata.setUnavailable(true);
          }
        });
    assertThrows(MetadataUnavailableException.class, () -> LifecycleStore.runAll(store.newJob()));
    store.metadata.setUnavailable(false);
    assertEquals(241, store.versions().size());
    LifecycleStore.runAll(store.newJob());
    assertEquals(List.of(), store.shown());
  }

  @Test
  void movesThatAreNotDoneInADayDoNotHoldUpDeletions() throws Exception {
    store.rules(prefix("p/", EXPIRES), prefix("q/", moves(1, "A")));
    for (int i = 0; i < 10; i++) {
      store.put("q/" + i, 5);
    }
    store.clock.advanceMs(2 * LifecycleStore.DAY);
    LifecycleJob job = new LifecycleJob(inSlicesOf(Duration.ZERO));
    while (store.scan().getPhase() != Phase.MOVING) {
      assertTrue(job.run());
    }
    store.put("p/x", 1);
    store.clock.advanceMs(2 * LifecycleStore.DAY);
    while (store.shown().contains("p/x 1")) {
      assertTrue(job.run());
    }
    assertTrue(store.shown().contains("q/9 5"), store.shown()::toString);
    LifecycleStore.runAll(store.newJob()); // in slices of no time nothing is moved
    assertTrue(store.shown().stream().allMatch(shown -> shown.endsWith(" 5A")));
  }

  private LifecycleJob.Parts inSlicesOf(Duration slice) {
    LifecycleJob.Parts parts = store.parts(store.metadata, 3);
    return new LifecycleJob.Parts(
        parts.metadata(),
        parts.mover(),
        parts.now(),
        parts.calendar(),
        parts.rate(),
        parts.moveRate(),
        parts.meters(),
        parts.failures(),
        slice,
        3);
  }

  @Test
  void progressIsRecordedBehindEachSlice() throws Exception {
    store.rules(EXPIRES);
    for (int i = 0; i < 30; i++) {
      store.put("k%02d".formatted(i), 1);
    }
    store.clock.advanceMs(2 * LifecycleStore.DAY);
    LifecycleJob job = new LifecycleJob(inSlicesOf(Duration.ZERO));
    assertTrue(job.run());
    assertEquals(Phase.DELETING, store.scan().getPhase());
    assertFalse(store.scan().getKey().isEmpty());
    int seen = store.versions().size();
    assertTrue(seen > 0 && seen < 30, seen + " are left");
    LifecycleStore.runAll(store.newJob());
    assertEquals(List.of(), store.shown());
    assertEquals(30, store.scan().getCounts().getExpired());
  }

  @Test
  void deletionsThatTakeLongerThanADayAreTold() throws Exception {
    store.rules(EXPIRES);
    for (int i = 0; i < 30; i++) {
      store.put("k%02d".formatted(i), 1);
    }
    store.clock.advanceMs(2 * LifecycleStore.DAY);
    LifecycleJob job = new LifecycleJob(inSlicesOf(Duration.ZERO));
    assertTrue(job.run());
    assertEquals(0, daysBehind());
    store.clock.advanceMs(3 * LifecycleStore.DAY);
    assertTrue(job.run());
    assertEquals(3, daysBehind());
    job.forget();
    assertEquals(0, daysBehind());
    LifecycleStore.runAll(job);
    assertEquals(List.of(), store.shown());
    assertEquals(0, daysBehind());
  }

  private double daysBehind() {
    return store.meters.get("ashlar.lifecycle.days.behind").gauge().value();
  }

  @Test
  void bucketsThatAreDeletedOrMadeAnewAreNoConcern() throws Exception {
    store.rules(EXPIRES);
    LifecycleJob job = store.newJob();
    LifecycleStore.runAll(job);
    store.metadata.require(
        Command.newBuilder().setDeleteBucket(DeleteBucket.newBuilder().setName("b")));
    assertFalse(job.run());
    store.metadata.require(TestBlobs.createBucket("b"));
    store.put("k", 5);
    store.clock.advanceMs(2 * LifecycleStore.DAY);
    assertFalse(job.run());
    assertEquals(List.of("k 5"), store.shown());
  }

  @Test
  void rulesWithTagsConcernTaggedVersionsOnly() throws Exception {
    store.rules("<Filter><Tag><Key>k</Key><Value>v</Value></Tag></Filter>" + EXPIRES);
    List<Tag> tags = List.of(Tag.newBuilder().setKey("k").setValue("v").build());
    store.put("a", 1, tags, ObjectLock.getDefaultInstance());
    store.put("b", 1);
    runTwoDaysLater();
    assertEquals(List.of("b 1"), store.shown());
    store.metadata.require(
        Command.newBuilder()
            .setSetObjectFacts(
                SetObjectFacts.newBuilder()
                    .setBucket("b")
                    .setKey("b")
                    .setTags(ObjectFacts.newBuilder().addAllTags(tags))));
    runTwoDaysLater();
    assertEquals(List.of(), store.shown());
  }

  @Test
  void anUploadThatIsCompletedMeanwhileIsItsObject() throws Exception {
    store.rules(ABORTS);
    upload("m", "id");
    store.metadata.require(
        Command.newBuilder()
            .setPutPart(
                PutPart.newBuilder()
                    .setBucket("b")
                    .setKey("m")
                    .setUploadId("id")
                    .setPart(PartRow.newBuilder().setNumber(1))));
    long token = store.metadata.parts("b", "m", "id", 0, 1).getFirst().getToken();
    runTwoDaysLater(
        Command.Builder::hasAbortUpload,
        () ->
            store.metadata.require(
                Command.newBuilder()
                    .setCompleteUpload(
                        CompleteUpload.newBuilder()
                            .setBucket("b")
                            .setKey("m")
                            .setUploadId("id")
                            .addParts(CompletePart.newBuilder().setNumber(1).setToken(token))
                            .setEtag("e"))));
    assertEquals(List.of("m 0"), store.shown());
    assertEquals(1, store.scan().getCounts().getChanged());
  }
}
