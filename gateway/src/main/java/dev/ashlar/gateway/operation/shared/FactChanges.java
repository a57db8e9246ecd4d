package dev.ashlar.gateway.operation.shared;

import dev.ashlar.gateway.access.AccessControl.Permit;
import dev.ashlar.gateway.access.Caller;
import dev.ashlar.gateway.access.Need;
import dev.ashlar.gateway.access.Need.Resource.StoredObject;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.SetObjectFacts;
import dev.ashlar.protocol.message.VersionRef;

/** Changes what belongs to a version without making a new one. */
public record FactChanges(Backend backend) {
  /** What is changed. */
  public interface Change {
    /**
     * Puts the change into a command that names the version.
     *
     * @param permit for the version that the command is about
     */
    void addTo(SetObjectFacts.Builder command, Permit permit)
        throws S3Exception, MetadataUnavailableException, InterruptedException;
  }

  /**
   * Changes the version on which the permit was decided. If it was replaced meanwhile, decides
   * again: policies may ask about its tags.
   *
   * @param object that the need is about
   * @return a result that is no conflict, unless there were conflicts again and again
   */
  public CommandResult set(
      StoredObject object, Permit first, Caller caller, Need need, Change change)
      throws S3Exception, MetadataUnavailableException, InterruptedException {
    return backend.changes().submit(first, caller, need, permit -> set(object, permit, change));
  }

  private CommandResult set(StoredObject object, Permit permit, Change change)
      throws S3Exception, MetadataUnavailableException, InterruptedException {
    SetObjectFacts.Builder set =
        SetObjectFacts.newBuilder()
            .setBucket(object.bucket())
            .setKey(object.key())
            .setExpectedVersion(permit.object().object().getVersion());
    VersionRef version = object.version();
    if (version != null) {
      set.setVersion(version);
    }
    change.addTo(set, permit);
    return backend.metadata().submit(backend.command().setSetObjectFacts(set));
  }
}
