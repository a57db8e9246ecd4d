package dev.ashlar.metadata.state.object;

import static dev.ashlar.metadata.state.apply.ApplyContext.require;

import dev.ashlar.metadata.state.apply.ApplyContext;
import dev.ashlar.metadata.state.apply.MetadataVersion;
import dev.ashlar.metadata.table.Keys;
import dev.ashlar.metadata.table.ObjectTable;
import dev.ashlar.metadata.table.OlderVersions;
import dev.ashlar.protocol.message.BucketRow;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.EventRow;
import dev.ashlar.protocol.message.ObjectFacts;
import dev.ashlar.protocol.message.ObjectLock;
import dev.ashlar.protocol.message.ObjectRow;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.SetObjectFacts;
import dev.ashlar.protocol.message.VersionRef;
import java.util.Optional;

/** Changes what belongs to a version beside its content: lock, tags, ACL and wrapped data key. */
public final class ObjectFactCommands {
  private ObjectFactCommands() {}

  public static CommandResult set(ApplyContext context, SetObjectFacts command) {
    context.requireVersion(MetadataVersion.KEEPS_VERSIONS);
    BucketRow bucket = context.bucket(command.getBucket());
    String key = command.getKey();
    Optional<VersionRef> version =
        command.hasVersion() ? Optional.of(command.getVersion()) : Optional.empty();
    Versions.Found found = Versions.require(context, bucket, key, version);
    ObjectRow row = found.row();
    long expected = command.getExpectedVersion();
    require(expected == 0 || expected == row.getVersion(), ResultCode.CONDITIONAL_CONFLICT);

    ObjectRow.Builder changed = row.toBuilder().setFactsRevision(row.getFactsRevision() + 1);
    ObjectFacts facts = ObjectTable.facts(context.table(), bucket.getId(), key, row);
    ObjectFacts.Builder wanted = facts.toBuilder();
    switch (command.getChangeCase()) {
      case TAGS -> wanted.clearTags().addAllTags(command.getTags().getTagsList());
      case ACL -> wanted.setAcl(command.getAcl());
      case WRAPPED_KEY -> {
        Encryption.requireRewrapped(context, facts, command);
        wanted.setWrappedKey(command.getWrappedKey());
      }
      case RETENTION -> changed.setLock(retained(context, bucket, row, command));
      case LEGAL_HOLD -> {
        require(bucket.getHasLock(), ResultCode.INVALID_BUCKET_STATE);
        boolean isTold = context.version() >= MetadataVersion.KEEPS_MODES_OF_LOCKS;
        changed.setLock(
            row.getLock().toBuilder()
                .setLegalHold(command.getLegalHold())
                .setLegalHoldTold(isTold || row.getLock().getLegalHoldTold()));
      }
      case CHANGE_NOT_SET -> require(false, ResultCode.INVALID_COMMAND);
    }
    if (changed.getLock().equals(ObjectLock.getDefaultInstance())) {
      changed.clearLock();
    }
    if (!wanted.build().equals(facts)) {
      ObjectTable.writeFacts(context.table(), bucket.getId(), key, changed, wanted.build());
    }
    if (found.isPresent()) {
      context.table().put(Keys.object(bucket.getId(), key), changed.build().toByteArray());
    } else {
      OlderVersions.put(context.table(), bucket.getId(), key, changed.build());
    }
    kind(command)
        .ifPresent(
            kind ->
                Outbox.add(
                    context,
                    bucket,
                    EventRow.newBuilder()
                        .setKind(kind)
                        .setKey(key)
                        .setVersion(row.getVersion())
                        .setVersioned(row.getVersioned())
                        .setSize(row.getSummary().getSize())
                        .setEtag(row.getSummary().getEtag()),
                    0));
    return CommandResult.newBuilder()
        .setVersion(row.getVersion())
        .setVersioned(row.getVersioned())
        .build();
  }

  /** The kind of event that the command is, if it is one. */
  private static Optional<EventRow.Kind> kind(SetObjectFacts command) {
    return switch (command.getChangeCase()) {
      case TAGS ->
          Optional.of(
              command.getTags().getTagsCount() > 0 ? EventRow.Kind.TAGGED : EventRow.Kind.UNTAGGED);
      case ACL -> Optional.of(EventRow.Kind.ACL_PUT);
      case WRAPPED_KEY, RETENTION, LEGAL_HOLD, CHANGE_NOT_SET -> Optional.empty();
    };
  }

  private static ObjectLock retained(
      ApplyContext context, BucketRow bucket, ObjectRow row, SetObjectFacts command) {
    require(bucket.getHasLock(), ResultCode.INVALID_BUCKET_STATE);
    ObjectLock wanted = command.getRetention();
    require(Locks.isWellFormed(wanted), ResultCode.INVALID_COMMAND);
    Locks.requireChangeable(context, row.getLock(), wanted, command.getBypassGovernance());
    return row.getLock().toBuilder()
        .setMode(wanted.getMode())
        .setRetainUntilMs(wanted.getRetainUntilMs())
        .build();
  }
}
