package dev.ashlar.metadata.state;

import com.google.protobuf.ByteString;
import dev.ashlar.protocol.message.AckEvents;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CountUsage;
import dev.ashlar.protocol.message.DefaultRetention;
import dev.ashlar.protocol.message.DeleteObjects;
import dev.ashlar.protocol.message.DeleteTarget;
import dev.ashlar.protocol.message.ObjectFacts;
import dev.ashlar.protocol.message.ObjectLock;
import dev.ashlar.protocol.message.PutBucketDocument;
import dev.ashlar.protocol.message.Quota;
import dev.ashlar.protocol.message.RenameObject;
import dev.ashlar.protocol.message.SetAccountQuota;
import dev.ashlar.protocol.message.SetBucketLock;
import dev.ashlar.protocol.message.SetBucketQuota;
import dev.ashlar.protocol.message.SetBucketVersioning;
import dev.ashlar.protocol.message.SetObjectFacts;
import dev.ashlar.protocol.message.Tag;
import dev.ashlar.protocol.message.VersionRef;
import dev.ashlar.protocol.message.Versioning;
import java.util.Random;

/** Commands on versions, locks and settings of one bucket, which has versions sooner or later. */
final class SensibleVersionCommands {
  private static final String BUCKET = "k1";
  private static final int KINDS = 10;

  private final Random random;

  SensibleVersionCommands(Random random) {
    this.random = random;
  }

  Command.Builder next(String key, String otherKey, long version) {
    Command.Builder command = Command.newBuilder();
    return switch (random.nextInt(KINDS)) {
      case 0 -> command.setSetBucketVersioning(versioning());
      case 1 -> command.setSetBucketLock(lock());
      case 2 -> command.setSetBucketQuota(quota());
      case 3 -> command.setPutBucketDocument(document());
      case 4 -> command.setRenameObject(rename(key, otherKey));
      case 5 ->
          command.setDeleteObjects(
              DeleteObjects.newBuilder().setBucket(BUCKET).addTargets(target(key, version)));
      case 6 -> command.setSetAccountQuota(SetAccountQuota.newBuilder().setOwner("me"));
      case 8 ->
          command.setAckEvents(
              AckEvents.newBuilder().addEvents(AckEvents.Event.newBuilder().setPosition(version)));
      case 7 -> command.setCountUsage(CountUsage.newBuilder().setBucket(BUCKET));
      default -> command.setSetObjectFacts(facts(key));
    };
  }

  private SetBucketVersioning versioning() {
    return SetBucketVersioning.newBuilder()
        .setBucket(BUCKET)
        .setVersioning(
            random.nextBoolean() ? Versioning.VERSIONING_ENABLED : Versioning.VERSIONING_SUSPENDED)
        .build();
  }

  private SetBucketLock lock() {
    SetBucketLock.Builder lock = SetBucketLock.newBuilder().setBucket(BUCKET);
    return random.nextBoolean()
        ? lock.build()
        : lock.setRetention(
                DefaultRetention.newBuilder().setMode(ObjectLock.Mode.GOVERNANCE).setDays(1))
            .build();
  }

  private static SetBucketQuota quota() {
    return SetBucketQuota.newBuilder()
        .setBucket(BUCKET)
        .setQuota(Quota.newBuilder().setBytesMax(Long.MAX_VALUE))
        .build();
  }

  private PutBucketDocument document() {
    return PutBucketDocument.newBuilder()
        .setBucket(BUCKET)
        .setKind(random.nextInt(4))
        .setDocument(ByteString.copyFromUtf8(random.nextBoolean() ? "document" : ""))
        .setNotifiedEvents(random.nextInt())
        .build();
  }

  private RenameObject rename(String key, String otherKey) {
    RenameObject.Builder rename =
        RenameObject.newBuilder().setBucket(BUCKET).setSourceKey(key).setKey(otherKey);
    if (random.nextBoolean()) {
      rename.getMarkBuilder().setClientToken("t").setParameters(ByteString.copyFromUtf8(key));
    }
    return rename.build();
  }

  private DeleteTarget target(String key, long version) {
    DeleteTarget.Builder target = DeleteTarget.newBuilder().setKey(key);
    return random.nextBoolean()
        ? target.build()
        : target
            .setVersion(VersionRef.newBuilder().setNumber(version))
            .setBypassGovernance(random.nextBoolean())
            .setNewerKept(random.nextInt(3))
            .build();
  }

  private SetObjectFacts facts(String key) {
    SetObjectFacts.Builder facts = SetObjectFacts.newBuilder().setBucket(BUCKET).setKey(key);
    return switch (random.nextInt(4)) {
      case 3 ->
          facts
              .setWrappedKey(ByteString.copyFromUtf8("again"))
              .setExpectedWrappedKey(ByteString.copyFromUtf8(random.nextBoolean() ? "again" : ""))
              .build();
      case 0 ->
          facts.setTags(ObjectFacts.newBuilder().addTags(Tag.newBuilder().setKey("t"))).build();
      case 1 -> facts.setLegalHold(random.nextBoolean()).build();
      default -> facts.setAcl(ByteString.copyFromUtf8("acl")).build();
    };
  }
}
