/** The error of a view whose subject, such as a block, does not exist. */
export class NotFound extends Error {
  constructor(subject, message) {
    super(message);
    this.title = `${subject} not found`;
  }
}
