package dev.ashlar.gateway.operation.object;

import dev.ashlar.gateway.access.AccessControl.Permit;
import dev.ashlar.gateway.access.Caller;
import dev.ashlar.gateway.access.Need;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.operation.shared.Backend;
import dev.ashlar.gateway.s3.S3Request;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.SetObjectFacts;
import dev.ashlar.protocol.message.VersionRef;
import java.util.function.Consumer;

/** Changes what belongs to a version without making a new one. */
record FactChanges(Backend backend) {
  private static final int TRIES = 5;

  /**
   * Changes the version on which the permit was decided. If it was replaced meanwhile, decides
   * again: policies may ask about its tags.
   *
   * @return a result that is no conflict, unless there were conflicts again and again
   */
  CommandResult set(
      S3Request.FactsRequest request,
      Permit first,
      Caller caller,
      Need need,
      Consumer<SetObjectFacts.Builder> change)
      throws S3Exception, MetadataUnavailableException {
    Permit permit = first;
    for (int tries = 1; ; tries++) {
      SetObjectFacts.Builder set =
          SetObjectFacts.newBuilder()
              .setBucket(request.bucket())
              .setKey(request.key())
              .setExpectedVersion(permit.object().object().getVersion());
      VersionRef version = request.version();
      if (version != null) {
        set.setVersion(version);
      }
      change.accept(set);
      CommandResult result = backend.metadata().submit(Command.newBuilder().setSetObjectFacts(set));
      if (result.getCode() != ResultCode.CONDITIONAL_CONFLICT || tries == TRIES) {
        return result;
      }
      permit = backend.access().require(caller, need);
    }
  }
}
