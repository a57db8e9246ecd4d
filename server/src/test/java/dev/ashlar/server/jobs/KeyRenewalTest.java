package dev.ashlar.server.jobs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ashlar.gateway.encryption.key.DataKey;
import dev.ashlar.gateway.encryption.key.Encryption;
import dev.ashlar.gateway.encryption.key.KeyDescription;
import dev.ashlar.gateway.encryption.key.KeyWrapping;
import dev.ashlar.gateway.encryption.key.KmsKeys;
import dev.ashlar.gateway.encryption.key.MasterKeys;
import dev.ashlar.metadata.memory.MemoryMetadata;
import dev.ashlar.metadata.memory.TestBlobs;
import dev.ashlar.protocol.client.ObjectRead;
import dev.ashlar.protocol.client.VersionRead;
import dev.ashlar.protocol.client.VersionsQuery;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CreateUpload;
import dev.ashlar.protocol.message.EncryptedRun;
import dev.ashlar.protocol.message.ObjectFacts;
import dev.ashlar.protocol.message.ObjectSummary;
import dev.ashlar.protocol.message.PutObject;
import dev.ashlar.protocol.message.SetBucketVersioning;
import dev.ashlar.protocol.message.UploadRow;
import dev.ashlar.protocol.message.VersionEntry;
import dev.ashlar.protocol.message.VersionRef;
import dev.ashlar.protocol.message.Versioning;
import dev.ashlar.protocol.model.Profile;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

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
    return new KeyWrapping(new MasterKeys(keys), KmsKeys.NONE, new SecureRandom());
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
