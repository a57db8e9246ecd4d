package dev.ashlar.server.jobs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ashlar.gateway.encryption.key.DataKey;
import dev.ashlar.gateway.encryption.key.Encryption;
import dev.ashlar.gateway.encryption.key.KeyDescription;
import dev.ashlar.gateway.encryption.key.KeyWrapping;
import dev.ashlar.gateway.encryption.key.KmsKeys;
import dev.ashlar.gateway.encryption.key.LocalKmsKeys;
import dev.ashlar.gateway.encryption.key.MasterKeys;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.metadata.memory.MemoryMetadata;
import dev.ashlar.metadata.memory.TestBlobs;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.ObjectRead;
import dev.ashlar.protocol.client.VersionRead;
import dev.ashlar.protocol.client.VersionsQuery;
import dev.ashlar.protocol.message.AbortUpload;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CreateUpload;
import dev.ashlar.protocol.message.DeleteObjects;
import dev.ashlar.protocol.message.DeleteTarget;
import dev.ashlar.protocol.message.EncryptedRun;
import dev.ashlar.protocol.message.ObjectFacts;
import dev.ashlar.protocol.message.ObjectSummary;
import dev.ashlar.protocol.message.PutObject;
import dev.ashlar.protocol.message.RenameObject;
import dev.ashlar.protocol.message.SetBucketVersioning;
import dev.ashlar.protocol.message.SetObjectFacts;
import dev.ashlar.protocol.message.UploadRow;
import dev.ashlar.protocol.message.VersionEntry;
import dev.ashlar.protocol.message.VersionRef;
import dev.ashlar.protocol.message.Versioning;
import dev.ashlar.protocol.model.Profile;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.lang.reflect.Proxy;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class KeyRenewalTest {
  private final MemoryMetadata metadata = MemoryMetadata.withDrives(new Profile(2, 1, 16384), 3, 2);
  private final KeyWrapping before = keys("m1", 1);
  private final KeyWrapping rotated = keys("m2", 2, "m1", 1);

  private static KeyWrapping keys(Object... namesAndFills) {
    Map<String, byte[]> keys = new LinkedHashMap<>();
    for (int i = 0; i < namesAndFills.length; i += 2) {
      byte[] key = new byte[32];
      Arrays.fill(key, ((Integer) namesAndFills[i + 1]).byteValue());
      keys.put((String) namesAndFills[i], key);
    }
    return new KeyWrapping(
        new MasterKeys(keys), KmsKeys.NONE, new SecureRandom(), new SimpleMeterRegistry());
  }

  @BeforeEach
  void createBucket() {
    metadata.require(TestBlobs.createBucket("b"));
  }

  /** An empty object; encrypted if there is a key. */
  private void put(String key, ByteString wrapped) {
    ObjectFacts.Builder facts = ObjectFacts.newBuilder();
    if (!wrapped.isEmpty()) {
      facts
          .setWrappedKey(wrapped)
          .addRuns(EncryptedRun.newBuilder().setId(ByteString.copyFrom(new byte[16])));
    }
    metadata.require(
        Command.newBuilder()
            .setPutObject(
                PutObject.newBuilder()
                    .setBucket("b")
                    .setKey(key)
                    .setSummary(ObjectSummary.newBuilder().setOwner("me").setEtag("e"))
                    .setFacts(facts)));
  }

  private ByteString wrapped(KeyWrapping by) throws Exception {
    return by.create(new Encryption.Master()).wrapped();
  }

  private List<ByteString> all() throws Exception {
    List<ByteString> all = new ArrayList<>();
    for (VersionEntry entry :
        metadata.versions(new VersionsQuery("b", "", "", "", null, 1000)).entries()) {
      VersionRef id =
          entry.getVersioned()
              ? VersionRef.newBuilder().setNumber(entry.getVersion()).build()
              : VersionRef.getDefaultInstance();
      if (metadata.version("b", entry.getName(), id) instanceof VersionRead.Content content) {
        ObjectRead read = content.read();
        all.add(read.object().getFacts().getWrappedKey());
      }
    }
    return all;
  }

  private static KeyRenewal.Progress run(KeyRenewal renewal) throws InterruptedException {
    assertTrue(renewal.start());
    while (renewal.progress().state().equals("running")) {
      Thread.sleep(1);
    }
    return renewal.progress();
  }

  @Test
  void allVersionsAreSealedWithTheFirstKey() throws Exception {
    metadata.require(
        Command.newBuilder()
            .setSetBucketVersioning(
                SetBucketVersioning.newBuilder()
                    .setBucket("b")
                    .setVersioning(Versioning.VERSIONING_ENABLED)));
    List<@Nullable DataKey> keys = new ArrayList<>();
    for (int i = 0; i < 30; i++) {
      put("k" + i % 10, wrapped(before));
    }
    put("plain", ByteString.EMPTY);
    put("new", wrapped(rotated));
    for (ByteString each : all()) {
      keys.add(each.isEmpty() ? null : rotated.open(each, null));
    }
    try (KeyRenewal renewal = new KeyRenewal(metadata, rotated)) {
      assertEquals(new KeyRenewal.Progress("done", "", 32, 30, 0, 0), run(renewal));
      assertEquals(new KeyRenewal.Progress("done", "", 32, 0, 0, 0), run(renewal));
    }
    KeyWrapping later = keys("m2", 2);
    List<@Nullable DataKey> opened = new ArrayList<>();
    for (ByteString each : all()) {
      opened.add(each.isEmpty() ? null : later.open(each, null));
      assertTrue(each.isEmpty() || KeyDescription.of(each).orElseThrow().keyId().equals("m2"));
    }
    assertEquals(keys, opened);
  }

  @Test
  void startsAgainAsSoonAsItIsDone() throws Exception {
    try (KeyRenewal renewal = new KeyRenewal(metadata, rotated)) {
      for (int i = 0; i < 1000; i++) {
        assertTrue(renewal.start());
        while (renewal.progress().state().equals("running")) {
          Thread.onSpinWait(); // a sleep would hide that the thread lives a moment longer
        }
      }
    }
  }

  @Test
  void keysThatCannotBeOpenedAreCountedAndStay() throws Exception {
    ByteString foreign = wrapped(keys("m3", 3));
    put("a", foreign);
    put("b", ByteString.copyFrom(new byte[] {1, 2, 3}));
    put("c", wrapped(before));
    try (KeyRenewal renewal = new KeyRenewal(metadata, rotated)) {
      assertEquals(new KeyRenewal.Progress("done", "", 3, 1, 2, 0), run(renewal));
    }
    assertEquals(foreign, all().getFirst());
  }

  /** What others do at the same moment. */
  private interface Other {
    void act() throws Exception;
  }

  /**
   * The metadata where others act at each call.
   *
   * @param before whether they do it before the call, else behind it
   */
  private MetadataClient shared(String method, boolean before, Other other) {
    return (MetadataClient)
        Proxy.newProxyInstance(
            MetadataClient.class.getClassLoader(),
            new Class<?>[] {MetadataClient.class},
            (proxy, called, arguments) -> {
              boolean isMeant = called.getName().equals(method);
              if (isMeant && before) {
                other.act();
              }
              Object answer = called.invoke(metadata, arguments);
              if (isMeant && !before) {
                other.act();
              }
              return answer;
            });
  }

  private static Other once(Other other) {
    AtomicBoolean done = new AtomicBoolean();
    return () -> {
      if (done.compareAndSet(false, true)) {
        other.act();
      }
    };
  }

  @Test
  void versionsThatChangeMeanwhileAreTriedAgain() throws Exception {
    ByteString old = wrapped(before);
    put("k", old);
    MetadataClient changed = shared("submit", true, once(() -> put("k", old)));
    try (KeyRenewal renewal = new KeyRenewal(changed, rotated)) {
      assertEquals(new KeyRenewal.Progress("done", "", 1, 1, 0, 0), run(renewal));
    }
    put("k", old);
    MetadataClient restless = shared("submit", true, () -> put("k", old));
    try (KeyRenewal renewal = new KeyRenewal(restless, rotated)) {
      assertEquals(new KeyRenewal.Progress("done", "", 1, 0, 1, 0), run(renewal));
    }
  }

  @Test
  void versionsThatAreDeletedMeanwhileAreNoFailure() throws Exception {
    put("k", wrapped(before));
    MetadataClient changed =
        shared(
            "submit",
            true,
            once(
                () ->
                    metadata.require(
                        Command.newBuilder()
                            .setDeleteObjects(
                                DeleteObjects.newBuilder()
                                    .setBucket("b")
                                    .addTargets(DeleteTarget.newBuilder().setKey("k"))))));
    try (KeyRenewal renewal = new KeyRenewal(changed, rotated)) {
      assertEquals(new KeyRenewal.Progress("done", "", 1, 0, 0, 0), run(renewal));
    }
  }

  @Test
  void versionsThatAreRenamedBehindItsBackAreRenewed() throws Exception {
    put("a", wrapped(before));
    put("z", wrapped(before));
    MetadataClient changed =
        shared(
            "versions",
            false,
            once(
                () ->
                    metadata.require(
                        Command.newBuilder()
                            .setRenameObject(
                                RenameObject.newBuilder()
                                    .setBucket("b")
                                    .setSourceKey("z")
                                    .setKey("0")))));
    try (KeyRenewal renewal = new KeyRenewal(changed, rotated)) {
      assertEquals(new KeyRenewal.Progress("done", "", 2, 2, 0, 0), run(renewal));
    }
    for (ByteString each : all()) {
      assertEquals("m2", KeyDescription.of(each).orElseThrow().keyId());
    }
  }

  @Test
  void aPassThatAlwaysFindsMoreEndsWithAnError() throws Exception {
    MetadataClient changed = shared("versions", true, () -> put("k", wrapped(before)));
    try (KeyRenewal renewal = new KeyRenewal(changed, rotated)) {
      KeyRenewal.Progress progress = run(renewal);
      assertTrue(progress.state().startsWith("failed: "), progress.state());
      assertEquals(10, progress.renewed());
    }
  }

  /** The client was told that the object is encrypted with a KMS key now. */
  @Test
  void anEncryptionThatIsChangedMeanwhileStays() throws Exception {
    SecureRandom random = new SecureRandom();
    KeyWrapping withKms =
        new KeyWrapping(
            rotated.masters(),
            new LocalKmsKeys(Map.of("reports", new byte[32]), random),
            random,
            new SimpleMeterRegistry());
    ByteString first = wrapped(before);
    put("k", first);
    ByteString asked =
        withKms.rewrap(first, null, new Encryption.Kms("reports", ByteString.EMPTY, false));
    MetadataClient changed =
        shared(
            "submit",
            true,
            once(
                () ->
                    metadata.require(
                        Command.newBuilder()
                            .setSetObjectFacts(
                                SetObjectFacts.newBuilder()
                                    .setBucket("b")
                                    .setKey("k")
                                    .setWrappedKey(asked)))));
    try (KeyRenewal renewal = new KeyRenewal(changed, withKms)) {
      assertEquals(new KeyRenewal.Progress("done", "", 1, 0, 0, 0), run(renewal));
    }
    assertEquals(List.of(asked), all());
  }

  private static final class AwayKms implements KmsKeys {
    private final KmsKeys keys = new LocalKmsKeys(Map.of("k", new byte[32]), new SecureRandom());
    private final AtomicInteger asked = new AtomicInteger();
    private final int answers;

    AwayKms(int answers) {
      this.answers = answers;
    }

    @Override
    public Optional<String> standard() {
      return keys.standard();
    }

    @Override
    public void requireKnown(String keyId) {}

    @Override
    public byte[] fingerprint(String keyId) {
      return keys.fingerprint(keyId);
    }

    @Override
    public String version(String keyId) throws S3Exception {
      if (asked.incrementAndGet() <= answers) {
        return "v2";
      }
      throw new S3Exception(S3Error.SERVICE_UNAVAILABLE, "away");
    }

    @Override
    public byte[] seal(String keyId, DataKey plain, byte[] bound)
        throws S3Exception, InterruptedException {
      return keys.seal(keyId, plain, bound);
    }

    @Override
    public DataKey open(String keyId, byte[] fingerprint, byte[] sealed, byte[] bound)
        throws S3Exception {
      throw new S3Exception(S3Error.SERVICE_UNAVAILABLE, "away");
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 8})
  void itEndsWhenTheKeyManagementIsAway(int answers) throws Exception {
    AwayKms kms = new AwayKms(answers);
    KeyWrapping keys =
        new KeyWrapping(MasterKeys.NONE, kms, new SecureRandom(), new SimpleMeterRegistry());
    for (int i = 0; i < 100; i++) {
      put("k" + i, keys.create(new Encryption.Kms("k", ByteString.EMPTY, false)).wrapped());
    }
    try (KeyRenewal renewal = new KeyRenewal(metadata, keys)) {
      KeyRenewal.Progress progress = run(renewal);
      assertEquals("failed: away", progress.state());
      assertTrue(kms.asked.get() <= 16 && progress.versions() < 100, progress::toString);
    }
  }

  @Test
  void uploadsThatAreCompletedMeanwhileAreTold() throws Exception {
    ByteString old = wrapped(before);
    metadata.require(
        Command.newBuilder()
            .setCreateUpload(
                CreateUpload.newBuilder()
                    .setUpload(
                        UploadRow.newBuilder()
                            .setBucket("b")
                            .setKey("k")
                            .setUploadId("u")
                            .setOwner("me")
                            .setFacts(ObjectFacts.newBuilder().setWrappedKey(old)))));
    MetadataClient changed =
        shared(
            "versions",
            false,
            once(
                () -> {
                  metadata.require(
                      Command.newBuilder()
                          .setAbortUpload(
                              AbortUpload.newBuilder()
                                  .setBucket("b")
                                  .setKey("k")
                                  .setUploadId("u")));
                  put("k", old);
                }));
    try (KeyRenewal renewal = new KeyRenewal(changed, rotated)) {
      assertEquals(1, run(renewal).uploads());
    }
  }

  @Test
  void uploadsKeepTheKeyThatTheyBeganWith() throws Exception {
    for (KeyWrapping each : List.of(before, rotated)) {
      metadata.require(
          Command.newBuilder()
              .setCreateUpload(
                  CreateUpload.newBuilder()
                      .setUpload(
                          UploadRow.newBuilder()
                              .setBucket("b")
                              .setKey("k")
                              .setUploadId(each == before ? "u1" : "u2")
                              .setOwner("me")
                              .setFacts(ObjectFacts.newBuilder().setWrappedKey(wrapped(each))))));
    }
    try (KeyRenewal renewal = new KeyRenewal(metadata, rotated)) {
      assertEquals(new KeyRenewal.Progress("done", "", 0, 0, 0, 1), run(renewal));
    }
  }
}
