/**
 * The exchanges in flight, as a ring that runs through the exchanges themselves. A Set in their place costs 200 to 700 ns
 * for each one that comes and goes (Node 20 and 24): it is rehashed again and again, however few are in it.
 */

/** What a member carries for the ring; nobody else touches it. Null while it is in none. */
export interface Linked<T> {
  previous: T | null;
  next: T | null;
}

export class InFlight<T extends Linked<T>> {
  #first: T | null = null;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(member: T): void {
    const first = this.#first;
    if (first === null) {
      member.previous = member;
      member.next = member;
      this.#first = member;
    } else {
      const last = first.previous as T;
      member.previous = last;
      member.next = first;
      last.next = member;
      first.previous = member;
    }
    this.#size += 1;
  }

  /** False when it was not in the ring. */
  delete(member: T): boolean {
    const { previous, next } = member;
    if (previous === null || next === null) {
      return false;
    }
    previous.next = next;
    next.previous = previous;
    if (this.#first === member) {
      this.#first = next === member ? null : next;
    }
    member.previous = null;
    member.next = null;
    this.#size -= 1;
    return true;
  }

  /** Oldest first, as they are now: who comes or goes meanwhile changes nothing. */
  [Symbol.iterator](): Iterator<T> {
    const members: T[] = [];
    let member = this.#first;
    for (let left = this.#size; left > 0 && member !== null; left -= 1) {
      members.push(member);
      member = member.next;
    }
    return members.values();
  }
}
