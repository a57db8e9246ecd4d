package dev.ashlar.gateway.operation.object;

import dev.ashlar.gateway.access.AccessControl.Permit;
import dev.ashlar.gateway.access.Need;
import dev.ashlar.gateway.operation.shared.LifecycleHeaders;
import dev.ashlar.gateway.s3.S3Dates;
import dev.ashlar.gateway.s3.S3Request;
import dev.ashlar.protocol.message.ObjectLock;
import dev.ashlar.protocol.message.ObjectRecord;
import io.netty.handler.codec.http.HttpHeaders;

/** The headers about an object that only callers with a right of their own are told. */
record ObjectFactHeaders(S3Request.OfVersion request, String key, Permit permit) {
  void addTo(HttpHeaders headers) {
    ObjectRecord object = permit.object().object();
    if (request.version() == null) {
      // Whether a version that is named is the present one is not known, and others do not expire.
      LifecycleHeaders.addExpiration(headers, permit, key, object);
    }
    int tags = object.getFacts().getTagsCount();
    if (tags > 0 && isPermitted("s3:GetObjectTagging")) {
      headers.set("x-amz-tagging-count", Integer.toString(tags));
    }
    addLock(headers, object.getLock());
  }

  private void addLock(HttpHeaders headers, ObjectLock lock) {
    if (lock.getMode() != ObjectLock.Mode.NONE && isPermitted("s3:GetObjectRetention")) {
      headers.set("x-amz-object-lock-mode", lock.getMode().name());
      headers.set("x-amz-object-lock-retain-until-date", S3Dates.exact(lock.getRetainUntilMs()));
    }
    if (lock.getLegalHoldTold() && isPermitted("s3:GetObjectLegalHold")) {
      headers.set("x-amz-object-lock-legal-hold", lock.getLegalHold() ? "ON" : "OFF");
    }
  }

  private boolean isPermitted(String action) {
    return permit.isAllowedOnObject(Need.ofVersion(action, request.needs().resource()));
  }
}
